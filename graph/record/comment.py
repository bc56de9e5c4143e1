"""Comments of people on steps of a plan, and what became of each in the next plan."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from planner_executor.graph.plan.schema import Plan

Became = Literal["changed", "unchanged", "gone"]
"""What the next plan did with a commented step."""
MOST_ANSWERED = 50
"""Most steps whose comments a planner is asked to answer."""


class Comment(NamedTuple):
    """What a person says of one step."""

    step: str
    text: str

    def became(self, before: Plan, after: Plan) -> Became:
        """Return what a later plan did with the step, from the difference alone."""
        step = after.by_id.get(self.step)
        if step is None:
            return "gone"
        return "unchanged" if step.same_as(before.by_id.get(self.step)) else "changed"


def said_together(message: str | None, comments: Iterable[Comment]) -> str:
    """Return a message and comments as the feedback that the planner gets.

    >>> said_together("shorter", [Comment("step_2", "only last year")])
    'shorter; on step_2: only last year'
    """
    return "; ".join([*([message] if message else []), *(f"on {one.step}: {one.text}" for one in comments)])
