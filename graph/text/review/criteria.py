"""The success criteria of the steps, and who judges them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.review.content import Judge
from planner_executor.graph.text.drawing.labels import plain
from planner_executor.graph.text.review.frame import Block, Data, Prose, more
from planner_executor.graph.text.review.layout import ITEM, entry
from planner_executor.graph.text.review.values import cut

MAX_STEPS = 60
"""Number of steps whose criteria are shown."""
CHARACTERS = 500
NONE = "No step has success criteria: a step succeeds if its work ends without an error."
CHECKED = "Checked by code; a step fails if one of these does not hold:"
JUDGED = "Success criteria, judged by a model:"
NOT_JUDGED = (
    "Success criteria that nobody judges, since no judge is configured; such a step succeeds if its work ends without "
    "an error:"
)
LEFT_OUT = "Success criteria that no model judges, since a person or a planner does these steps:"


@dataclass(frozen=True)
class Judged:
    """What is looked at when a step ends: words, who judges them, whether a judge could, and what code checks."""

    step: str
    words: str | None
    by: Judge | None
    is_judged: bool
    checks: tuple[str, ...]


def criteria_blocks(left: Sequence[Judged]) -> Iterator[Block]:
    """Yield the criteria of the steps that are left, by who judges them."""
    # Code judges without words, and words may have nobody to judge them: each list says who does.
    worded = [step for step in left if step.words]
    by_model = [step for step in worded if step.is_judged]
    if not worded and not any(step.checks for step in left):
        yield Prose(NONE)
    yield from listed_blocks(CHECKED, [f"{step.step}: {_checks(step)}" for step in left if step.checks])
    yield from listed_blocks(JUDGED, [_worded(step) for step in by_model if step.by == "model"])
    yield from listed_blocks(NOT_JUDGED, [_worded(step) for step in by_model if step.by != "model"])
    yield from listed_blocks(LEFT_OUT, [_worded(step) for step in worded if not step.is_judged])


def listed_blocks(title: str, told: Sequence[str]) -> Iterator[Block]:
    """Yield what is told of steps below a title, nothing if there is nothing."""
    if told:
        lines = more([ITEM + one for one in told], MAX_STEPS, "step")
        yield Prose(title)
        yield Data(tuple(part for line in lines for part in entry(line.removeprefix(ITEM))))


def _worded(step: Judged) -> str:
    return f"{step.step}: {cut(plain(step.words or ''), CHARACTERS)}"


def _checks(step: Judged) -> str:
    return cut("; ".join(map(escaped, step.checks)), CHARACTERS)
