"""A plan on a terminal: one line per step, its edges as rails on the left."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from planner_executor.graph.plain_text.columns import columns, cut, cut_middle, cut_words
from planner_executor.graph.plan.schedule import Waits, levels
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.text.drawing.gutter import rails, steps_in_order
from planner_executor.graph.text.drawing.labels import answer_text, some, waits_within
from planner_executor.graph.text.drawing.statuses import LOOKS, status_of
from planner_executor.graph.text.drawing.step_list import step_list
from planner_executor.graph.text.drawing.step_words import StepWords, depths

Shorten = Callable[[str, float], str]

USUAL_WIDTH, LEAST_WIDTH = 100, 40
GAP = INDENT = "  "
DEEPEST = 6
"""How far ids are indented at most."""


def plan_text(plan: Plan, statuses: Mapping[str, str] | None = None, *, width: int | None = None) -> str:
    """Return the plan as lines of at most `width` columns; default: 100, or more if ids need it.

    A line shows a step's id, objective, dependencies and work. Lines follow the dependencies and otherwise plan order;
    ids of refined steps are indented. If there are too many edges for rails, lines start with the step's level instead.
    If the columns do not fit the given width, each step has an entry of a few lines instead. The text contains no
    markup: print it as it is.
    """
    room = USUAL_WIDTH if width is None else max(LEAST_WIDTH, width)
    if not plan.steps:
        return cut(f"no steps; answer: {answer_text(plan)}", room)
    waits = waits_within(plan)
    order = steps_in_order(waits)
    words = {step: status_of(step, statuses) for step in order}
    # Without a width a long id sticks out of its column, rather than push those of all other steps aside.
    left = _left(plan, waits, order, words, 28 if width is None else room)
    steps = [StepWords.of(plan.by_id[step]) for step in order]
    # Without a given width the table takes as much as its ids need, and never gives way to the list.
    if width is not None and _least_columns(steps, waits, columns(left[0])) > room:
        lines = step_list(steps, waits, words, room)
    else:
        lines = _table(steps, waits, left, room, cut if width is None else cut_words)
    if statuses is not None:
        lines += _tally(Counter(word for word in words.values() if word), USUAL_WIDTH if width is None else room)
    if plan.answer is not None:
        answer = f"answer: {answer_text(plan)}"
        lines.append(cut(answer, room) if width is None else cut_middle(answer, room))
    return "\n".join(lines)


def _left(plan: Plan, waits: Waits, order: Sequence[str], words: Mapping[str, str | None], most: int) -> list[str]:
    """Return the left columns: rails or levels, and ids."""
    marks = {step: LOOKS[word].mark if word else "●" for step, word in words.items()}
    left = _column(rails(waits, order, marks.__getitem__) or _level_rows(waits, order, marks))
    depth = depths(plan)
    ids = _column([INDENT * min(depth[step], DEEPEST) + step for step in order], most)
    return [GAP.join(cells) + GAP for cells in zip(left, ids, strict=True)]


def _least_columns(steps: Sequence[StepWords], waits: Waits, left: int) -> int:
    """Return the columns that a readable table of these steps needs at least."""
    objective = max(columns(step.objective) for step in steps)
    call = max(columns(step.call) for step in steps)
    before = max(columns(text) for text in _befores(steps, waits))
    return left + min(objective, 32) + len(GAP) + (before + len(GAP) if before else 0) + min(call, 24)


def _table(steps: Sequence[StepWords], waits: Waits, left: list[str], width: int, shorten: Shorten) -> list[str]:
    lines = left
    for part in _details(steps, waits, width - columns(left[0]), shorten):
        lines = [line + cell + GAP for line, cell in zip(lines, part, strict=True)]
    return [line.rstrip() for line in lines]


def _details(steps: Sequence[StepWords], waits: Waits, room: int, shorten: Shorten) -> list[list[str]]:
    """Return the columns after the id: objective, dependencies, and work with arguments."""
    befores = _column(_befores(steps, waits), most=22)
    if befores[0]:
        room -= columns(befores[0]) + len(GAP)
    calls = [step.call for step in steps]
    for_calls = min(max(map(columns, calls)), max(24, room * 2 // 5))
    objectives = _column([shorten(step.objective, max(16, room - for_calls - len(GAP))) for step in steps])
    # Objectives may take less than their share; the calls get what is left.
    for_calls = max(16, room - columns(objectives[0]) - len(GAP))
    calls = [shorten(call, for_calls) for call in calls]
    return [objectives, befores, calls] if befores[0] else [objectives, calls]


def _befores(steps: Sequence[StepWords], waits: Waits) -> list[str]:
    return [f"← {some(waits[step.id], 18)}" if waits[step.id] else "" for step in steps]


def _column(cells: Sequence[str], most: int = 1000) -> list[str]:
    """Return the cells, padded to the widest one, but to at most `most`."""
    wide = min(most, max(map(columns, cells)))
    return [cell + " " * (wide - columns(cell)) for cell in cells]


def _level_rows(waits: Waits, order: Sequence[str], marks: Mapping[str, str]) -> list[str]:
    level = levels(waits)
    digits = len(str(1 + max(level.values())))
    return [f"{1 + level[step]:>{digits}} {marks[step]}" for step in order]


def _tally(counts: Counter[str], room: int) -> list[str]:
    """Return the number of steps in each status, in as many lines as needed."""
    lines: list[str] = []
    for entry in (f"{look.mark} {counts[word]} {word}" for word, look in LOOKS.items() if counts[word]):
        if lines and columns(lines[-1]) + 3 + columns(entry) <= room:
            lines[-1] += f"   {entry}"
        else:
            lines.append(entry)
    return lines
