"""A plan on a terminal: one line per step, its edges as rails on the left."""

from collections import Counter
from collections.abc import Mapping, Sequence

from graph.plan.schedule import Waits, levels
from graph.plan.schema import Plan, Step
from graph.text.drawing.gutter import rails, steps_in_order
from graph.text.drawing.labels import answer_text, columns, cut, plain, some, waits_within
from graph.text.drawing.statuses import LOOKS, status_of
from graph.text.drawing.step_words import checks, depths, doer, material

GAP = INDENT = "  "
DEEPEST = 6
"""How far ids are indented at most."""


def plan_text(plan: Plan, status: Mapping[str, str] | None = None, *, width: int = 100) -> str:
    """Return the plan as lines of at most `width` columns, ids permitting.

    A line shows a step's id, objective, dependencies, doer and inputs. Lines follow the dependencies and otherwise plan
    order; ids of steps that a step was refined into are indented. If there are too many edges for rails, each line has
    the number of its step's level instead. The text contains no markup: print it unchanged.
    """
    if not plan.steps:
        return cut(f"no steps; answer: {answer_text(plan)}", width)
    waits = waits_within(plan)
    order = steps_in_order(waits)
    words = {step: status_of(step, status) for step in order}
    marks = {step: LOOKS[word].mark if word else "●" for step, word in words.items()}
    left = _column(rails(waits, order, marks.__getitem__) or _level_rows(waits, order, marks))
    depth = depths(plan)
    ids = _column([INDENT * min(depth[step], DEEPEST) + step for step in order], most=28)
    lines = [GAP.join(cells) for cells in zip(left, ids, strict=True)]
    for part in _details(plan, waits, order, width - columns(left[0] + GAP + ids[0] + GAP)):
        lines = [line + GAP + cell for line, cell in zip(lines, part, strict=True)]
    lines = [line.rstrip() for line in lines]
    if status is not None:
        lines.append(_tally(Counter(word for word in words.values() if word)))
    if plan.answer is not None:
        lines.append(cut(f"answer: {answer_text(plan)}", width))
    return "\n".join(lines)


def _details(plan: Plan, waits: Waits, order: Sequence[str], room: int) -> list[list[str]]:
    """Return the columns after the id: objective, dependencies, doer and inputs."""
    steps = [plan.by_id[step] for step in order]
    befores = _column([f"← {some(waits[step], 18)}" if waits[step] else "" for step in order], most=22)
    if befores[0]:
        room -= columns(befores[0]) + len(GAP)
    calls = [_call(step) for step in steps]
    for_calls = min(max(map(columns, calls)), max(24, room * 2 // 5))
    objectives = _column([cut(plain(step.objective), max(16, room - for_calls - len(GAP))) for step in steps])
    for_calls = max(16, room - columns(objectives[0]) - len(GAP))
    calls = [cut(call, for_calls) for call in calls]
    return [objectives, befores, calls] if befores[0] else [objectives, calls]


def _call(step: Step) -> str:
    checked = f" [{checks(step)}]" if step.checks else ""
    return f"{doer(step)}{checked} {material(step)}".rstrip()


def _column(cells: Sequence[str], most: int = 1000) -> list[str]:
    """Return the cells, all as wide as the widest, but no padding beyond `most`."""
    wide = min(most, max(map(columns, cells)))
    return [cell + " " * (wide - columns(cell)) for cell in cells]


def _level_rows(waits: Waits, order: Sequence[str], marks: Mapping[str, str]) -> list[str]:
    level = levels(waits)
    digits = len(str(1 + max(level.values())))
    return [f"{1 + level[step]:>{digits}} {marks[step]}" for step in order]


def _tally(counts: Counter[str]) -> str:
    return "   ".join(f"{look.mark} {counts[word]} {word}" for word, look in LOOKS.items() if counts[word])
