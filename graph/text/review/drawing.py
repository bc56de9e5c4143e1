"""The drawing of a plan in a review: as wide as the data, the steps that are done marked as such."""

from collections.abc import Iterator, Mapping

from planner_executor.graph.plain_text.columns import columns, cut_middle
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.remaining import skipped_in
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.text.drawing.labels import answer_text, plain
from planner_executor.graph.text.drawing.statuses import LOOKS
from planner_executor.graph.text.drawing.step_words import doer, material
from planner_executor.graph.text.drawing.text import plan_text
from planner_executor.graph.text.review.frame import PLAN, Block, Data, redrawn, to_blocks, widened
from planner_executor.graph.text.review.layout import WIDTH
from planner_executor.graph.words.name_list import counted

MAX_LINES = 300
"""Limit of the drawing in a request, in lines."""
PASSED_LINES = 100
"""Limit of the drawing in a message without a request."""
ID_COLUMNS = 20


def settled(plan: Plan, results: Mapping[str, StepResult]) -> dict[str, str]:
    """Return step id -> `succeeded` or `skipped`, for the steps that are left out of what is to do."""
    done = {
        # A step may have a result of before the revision; only what has succeeded or is skipped is left out.
        step.id: "succeeded"
        for step in plan.steps
        if step.id in results and results[step.id].status == "succeeded"
    }
    return done | dict.fromkeys(skipped_in(plan, results), "skipped")


def plan_data(plan: Plan, done: Mapping[str, str], most: int = MAX_LINES, whole: str = "request") -> Data:
    """Return the drawing; a large plan has one line for each step, and what is too much is left out of the middle."""
    return Data(tuple(plan_drawing(plan, done, WIDTH, most, whole).split("\n")), PLAN)


def plan_drawing(plan: Plan, done: Mapping[str, str], width: int, most: int = MAX_LINES, whole: str = "request") -> str:
    """Return the drawing of a plan as text of at most `width` columns.

    Args:
        plan: The plan.
        done: Step id -> `succeeded` or `skipped`, see `settled`.
        width: How many columns a line takes at most.
        most: How many lines there are at most, one more for what is left out.
        whole: Where the whole plan stands.
    """
    # A plan of more steps than lines is not drawn first: its drawing would be thrown away.
    lines = plan_text(plan, done or None, width=width).split("\n") if len(plan.steps) <= most else []
    if not lines or len(lines) > most:
        lines = _short(plan, done, width)
    left = len(lines) - most
    if left > 0:
        # More of the beginning than of the end: there stands what runs first, and the answer stands last.
        end = most // 3
        told = f"... {counted(left, 'more line')}; the whole plan is in the {whole}"
        lines = [*lines[: most - end], told, *lines[len(lines) - end :]]
    return "\n".join(lines)


def fitted(
    description: str, plan: Plan | None, results: Mapping[str, StepResult], width: int, room: int
) -> Iterator[Block]:
    """Yield the blocks of a description, with its data laid out for `width` columns and its plan drawn in `room`."""
    blocks = widened(to_blocks(description), width)
    return blocks if plan is None else redrawn(blocks, plan_drawing(plan, settled(plan, results), room))


def _short(plan: Plan, done: Mapping[str, str], width: int) -> list[str]:
    """Return a line for each step in plan order, and the answer."""
    lines = []
    for step in plan.steps:
        mark = LOOKS[done.get(step.id, "pending")].mark
        told = f"{mark} {cut_middle(step.id, ID_COLUMNS)}  "
        work = f"{plain(step.objective)}: {doer(step)} {material(step)}".rstrip()
        lines.append(told + cut_middle(work, width - columns(told)))
    return lines if plan.answer is None else [*lines, cut_middle(f"answer: {answer_text(plan)}", width)]
