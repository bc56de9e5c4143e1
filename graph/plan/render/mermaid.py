"""A plan as a Mermaid flowchart, for Markdown and notebooks."""

import re
from collections.abc import Mapping

from graph.plan.render.labels import answer_text, cut, doer, kind_of, plain, waits_within
from graph.plan.render.statuses import LOOKS, status_of
from graph.plan.schema import Plan, Step

_SHAPES = {"tool": ('["', '"]'), "model": ('(["', '"])'), "reasoning": ('("', '")')}
_SPECIAL = re.compile(r"\\(?=n)|:(?=fa-)|\$(?=\$)")
"""What Mermaid still reads behind entity codes: line breaks, icons and formulas."""

_UNSAFE = re.compile(r"[^\w ,-]|(?<![^\W_])_|_(?![^\W_])")


def plan_mermaid(plan: Plan, status: Mapping[str, str] | None = None) -> str:
    """Return a flowchart: boxes for tool calls, rounder ones for models, one class per status.

    Steps are named s1, s2, ... in plan order, because ids such as `end` or `class` are words of Mermaid's own; the ids
    stand in the labels. Mermaid's own defaults refuse charts beyond 500 edges or 50,000 characters.
    """
    names = {step.id: f"s{number}" for number, step in enumerate(plan.steps, 1)}
    lines = ["flowchart TD"]
    for step in plan.steps:
        word = status_of(step.id, status)
        lines.append(f"    {names[step.id]}{_box(step)}" + (f":::{word}" if word else ""))
    for after, befores in waits_within(plan).items():
        lines += [f"    {names[before]} --> {names[after]}" for before in befores]
    used = {status_of(step.id, status) for step in plan.steps}
    for word, look in LOOKS.items():
        if word in used:
            lines.append(f"    classDef {word} fill:{look.pale},stroke:{look.strong},color:#0f172a")
    if not plan.steps:
        lines.append(f'    answer["{_escaped(cut(f"no steps; answer: {answer_text(plan)}", 80))}"]')
    return "\n".join(lines) + "\n"


def _box(step: Step) -> str:
    opening, closing = _SHAPES[kind_of(step)]
    lines = (step.id, cut(doer(step), 48), cut(plain(step.objective), 80))
    return opening + "<br/>".join(map(_escaped, lines)) + closing


def _escaped(text: str) -> str:
    """Write everything but words, spaces, commas and hyphens as entity codes, so that no text is markup.

    >>> _escaped('say "no" to step_1')
    'say #34;no#34; to step_1'
    """
    apart = _SPECIAL.sub("\\g<0>\u200b", text)
    return _UNSAFE.sub(lambda found: f"#{ord(found[0])};", apart)
