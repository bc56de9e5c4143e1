"""A plan as a Mermaid flowchart, for Markdown and notebooks."""

import re
from collections.abc import Iterator, Mapping

from planner_executor.graph.plain_text.columns import cut
from planner_executor.graph.plan.kinds.spec import Shape
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.references import references_in
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.plan.when import describe_when, of_when
from planner_executor.graph.text.drawing.labels import answer_text, plain, waits_within
from planner_executor.graph.text.drawing.statuses import LOOKS, status_of
from planner_executor.graph.text.drawing.step_words import checks, depths, doer

SHAPES: Mapping[Shape, tuple[str, str]] = {
    "rectangle": ('["', '"]'),
    "stadium": ('(["', '"])'),
    "rounded": ('("', '")'),
    "parallelogram": ('[/"', '"/]'),
    "hexagon": ('{{"', '"}}'),
    "subroutine": ('[["', '"]]'),
    "trapezoid": ('[\\"', '"/]'),
}
DEEPEST = 8
"""How far lines are indented at most."""
_SPECIAL = re.compile(r"\\(?=n)|:(?=fa-)|\$(?=\$)")
"""Markup that Mermaid interprets even in entity codes: line breaks, icons and formulas."""

# Within a word an underscore is text; at the edge of one Mermaid's Markdown would read it as emphasis.
_UNSAFE = re.compile(r"[^\w ,-]|(?<![^\W_])_|_(?![^\W_])")


def plan_mermaid(plan: Plan, statuses: Mapping[str, str] | None = None) -> str:
    """Return a flowchart: a shape per kind of step, a class per status, a subgraph per step that was refined.

    A dotted edge leads from what decides about a step with a condition.

    Steps are named s1, s2, ... in plan order, because ids such as `end` or `class` are words of Mermaid's own; the ids
    stand in the labels. Mermaid's own defaults refuse charts beyond 500 edges or 50,000 characters.
    """
    names = {step.id: f"s{number}" for number, step in enumerate(plan.steps, 1)}
    words = {step.id: status_of(step.id, statuses) for step in plan.steps}
    marks = {step: f":::{word}" if word else "" for step, word in words.items()}
    nodes = {step.id: f"{names[step.id]}{_box(step)}{marks[step.id]}" for step in plan.steps}
    lines = ["flowchart TD", *_nested(plan, nodes, names)]
    for after, befores in waits_within(plan).items():
        lines += [f"    {names[before]} {_arrow(plan.by_id[after], before)} {names[after]}" for before in befores]
    used = set(words.values())
    for word, look in LOOKS.items():
        if word in used:
            dashes = ",stroke-width:3px,stroke-dasharray:2 4" if word == "blocked" else ""
            lines.append(f"    classDef {word} fill:{look.pale},stroke:{look.strong},color:#0f172a{dashes}")
    # A chart without a node draws nothing, and a plan without steps is its answer.
    if not plan.steps:
        lines.append(f'    answer["{_escaped(cut(f"no steps; answer: {answer_text(plan)}", 80))}"]')
    return "\n".join(lines) + "\n"


def _nested(plan: Plan, nodes: Mapping[str, str], names: Mapping[str, str]) -> Iterator[str]:
    """Yield the nodes; a refined step is in one box with the steps that it was expanded into."""
    depth = depths(plan)
    inner: dict[str | None, list[str]] = {}
    for step in plan.steps:
        inner.setdefault(step.parent if depth[step.id] else None, []).append(step.id)
    # A stack instead of a recursion: steps may be refined more often than Python nests calls.
    waiting = [(name, 1, name in inner) for name in reversed(inner.get(None, ()))]
    while waiting:
        name, level, is_box = waiting.pop()
        margin = "    " * min(level, DEEPEST)
        if is_box:
            yield f'{margin}subgraph {names[name]}_parts["{_escaped(name)}"]'
            # The last one is taken first: the children in plan order, then the step itself, then the end of the box.
            waiting += [("", level, False), (name, level + 1, False)]
            waiting += [(child, level + 1, child in inner) for child in reversed(inner[name])]
        else:
            yield f"{margin}{nodes[name]}" if name else f"{margin}end"


def _box(step: Step) -> str:
    opening, closing = SHAPES[kind_spec(step.kind).look(step).shape]
    done = cut(doer(step), 48) + (f", {checks(step)}" if step.checks else "")
    lines = (step.id, done, cut(plain(step.objective), 80))
    return opening + "<br/>".join(map(_escaped, lines)) + closing


def _arrow(step: Step, before: str) -> str:
    """Return the edge to a step: dotted, with the condition, from what decides whether the step runs."""
    deciding = step.when is not None and any(ref.step == before for ref in references_in(of_when(step.when)))
    return f'-. "{_escaped(cut(plain(f"if {describe_when(step.when)}"), 60))}" .->' if step.when and deciding else "-->"


def _escaped(text: str) -> str:
    """Write everything but words, spaces, commas and hyphens as entity codes, so that no text is markup.

    >>> _escaped('say "no" to step_1')
    'say #34;no#34; to step_1'
    """
    apart = _SPECIAL.sub("\\g<0>\u200b", text)
    return _UNSAFE.sub(lambda found: f"#{ord(found[0])};", apart)
