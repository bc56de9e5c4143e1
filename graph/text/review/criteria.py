"""The success criteria of the steps, and who judges them."""

from collections.abc import Iterator, Sequence

from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.plan.checks import describe_check
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.text.drawing.labels import plain
from planner_executor.graph.text.review.frame import Block, Data, Prose, more
from planner_executor.graph.text.review.layout import ITEM, entry
from planner_executor.graph.text.review.values import cut

MAX_STEPS = 60
"""Number of steps whose criteria are shown."""
CHARACTERS = 500
NONE = "No step has success criteria: a step succeeds if its work ends without an error."
CHECKED = "Checked by code; a step that misses one of these fails:"
JUDGED = "Success criteria, judged by a model:"
NOT_JUDGED = (
    "Success criteria that nobody judges, since no judge is configured; such a step succeeds if its work ends without "
    "an error:"
)
LEFT_OUT = "Success criteria that no model judges, since a person or a planner does these steps:"


def criteria_blocks(left: Sequence[Step], has_judge: bool) -> Iterator[Block]:
    """Yield the criteria of the steps that are left, by who judges them."""
    worded = [step for step in left if step.success_criteria]
    by_model = [step for step in worded if kind_spec(step.kind).is_judged]
    others = [step for step in worded if not kind_spec(step.kind).is_judged]
    if not worded and not any(step.checks for step in left):
        yield Prose(NONE)
    yield from listed_blocks(CHECKED, [f"{step.id}: {_checks(step)}" for step in left if step.checks])
    yield from listed_blocks(JUDGED if has_judge else NOT_JUDGED, [_worded(step) for step in by_model])
    yield from listed_blocks(LEFT_OUT, [_worded(step) for step in others])


def listed_blocks(title: str, told: Sequence[str]) -> Iterator[Block]:
    """Yield what is told of steps below a title, nothing if there is nothing."""
    if told:
        lines = more([ITEM + one for one in told], MAX_STEPS, "steps")
        yield Prose(title)
        yield Data(tuple(part for line in lines for part in entry(line.removeprefix(ITEM))))


def _worded(step: Step) -> str:
    return f"{step.id}: {cut(plain(str(step.success_criteria)), CHARACTERS)}"


def _checks(step: Step) -> str:
    return cut("; ".join(escaped(describe_check(check)) for check in step.checks), CHARACTERS)
