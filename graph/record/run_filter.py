"""Filter and page of a list of runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from planner_executor.graph.errors import InputError
from planner_executor.graph.plain_text.sanitize import check_texts
from planner_executor.graph.record.run_status import STATUSES, RunStatus
from planner_executor.graph.words.name_list import right_name

RunOrder = Literal["latest", "cost", "duration"]
ORDERS: tuple[RunOrder, ...] = get_args(RunOrder)


@dataclass(frozen=True, kw_only=True)
class RunFilter:
    """Conditions that all runs of a page meet; unset ones are ignored.

    `status` is a run status, or several, `since` the earliest start in Unix seconds, `text` a part of the goal or of
    the thread's name; the case of ASCII letters is ignored. `by` is the label of who started it, or a part of it. The
    page has at most `limit` runs, in an `order`, and begins after the run named `before`. The latest, the highest cost
    or the longest duration comes first; a run that goes on has lasted until its last event.
    """

    status: RunStatus | tuple[RunStatus, ...] | None = None
    tag: str | None = None
    since: float | None = None
    text: str | None = None
    by: str | None = None
    order: RunOrder = "latest"
    limit: int = 50
    before: str | None = None

    def __post_init__(self) -> None:
        """Check the filter.

        Raises:
            InputError: No record holds such a text, no run has such a status, there is no such order, or a page is
                empty.
        """
        for name, words in (("tag", self.tag), ("text", self.text), ("by", self.by), ("before", self.before)):
            check_texts(name, words or "")
        for wrong in (one for one in self.statuses if one not in STATUSES):
            raise InputError("status", f"no run is {wrong!r}; {right_name(wrong, STATUSES)}")
        if self.order not in ORDERS:
            raise InputError("order", f"there is no order {self.order!r}; {right_name(self.order, ORDERS)}")
        if self.limit < 1:
            raise InputError("limit", f"limit must be an integer >= 1, got {self.limit}")

    @property
    def statuses(self) -> tuple[RunStatus, ...]:
        """The statuses that a run may have; none if any will do."""
        return (self.status,) if isinstance(self.status, str) else self.status or ()

    def has(self, shown: RunStatus) -> bool:
        """Whether a run that is shown with this status may be on the page."""
        return not self.statuses or shown in self.statuses
