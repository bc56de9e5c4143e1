"""A run in one row, for lists, searches and dashboards."""

from typing import Literal, NamedTuple

from planner_executor.graph.errors import UnknownEventError
from planner_executor.graph.record.amounts import largest_amount
from planner_executor.graph.record.open_review import OpenReview
from planner_executor.graph.record.run_key import run_name
from planner_executor.graph.record.run_status import RunStatus

PERSON = "person"
"""Value of `waits_for` if a review request is open."""


DAMAGED: Literal["damaged"] = "damaged"
"""Status of a run with a malformed event."""
CHANGED = (KeyError, TypeError, ValueError, AttributeError)
"""Exceptions raised by reading such an event."""
UNREADABLE = (UnknownEventError, *CHANGED)
"""The same, and that of an event of a newer release."""


class RunSummary(NamedTuple):
    """A summary of a run from its events, which do not show whether a process executes it.

    A waiting run `waits_for` a person, and `asks` names the open requests, such as `run_plan`. `people` are those who
    decided or steered, `started_by` who started the run. `steps` counts the steps of the plan in force, `succeeded` the
    succeeded ones. Times are Unix seconds; `ended_at` and `waiting_since` are None if they do not apply. `review` is
    the open request, `due_at` when something falls due for it: a reminder, an escalation, or its end.
    """

    thread: str
    n: int
    seq: int
    status: RunStatus
    goal: str = ""
    reason: str | None = None
    waits_for: str | None = None
    asks: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    started_at: float = 0.0
    updated_at: float = 0.0
    ended_at: float | None = None
    waiting_since: float | None = None
    revision: int = 0
    steps: int = 0
    succeeded: int = 0
    tool_calls: int = 0
    model_calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    due_at: float | None = None
    review: OpenReview | None = None
    started_by: str = ""

    @property
    def id(self) -> str:
        """The name of the run: thread and number."""
        return run_name(self.thread, self.n)

    @property
    def until(self) -> float | None:
        """Until when the open request is to be decided, in Unix seconds; None for no limit."""
        return self.review.deadline.until if self.review is not None and self.review.deadline is not None else None

    @property
    def amount(self) -> float | None:
        """The largest amount of money in the effects that the open request shows in lists; None without one."""
        return largest_amount(one.words for one in self.review.effects) if self.review is not None else None

    @property
    def told(self) -> str:
        """What searches of the inbox look through, in lower case: goal, name, tags, who started it, and effects."""
        effects = self.review.effects if self.review is not None else ()
        return " ".join((self.goal, self.id, *self.tags, self.started_by, *(one.words for one in effects))).casefold()

    @property
    def done(self) -> str:
        """How many steps of how many have succeeded, such as `2/3`; `-` without a plan."""
        return f"{self.succeeded}/{self.steps}" if self.revision else "-"

    @property
    def took_s(self) -> float:
        """How long the run took from its start to its end, or to its last event if it goes on, in seconds."""
        return (self.updated_at if self.ended_at is None else self.ended_at) - self.started_at
