"""The index of runs, as lists read it."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from planner_executor.graph.ledger.lease import Holder
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.record.waiting_filter import ALL, Waiting, WaitingFilter


class Unfinished(NamedTuple):
    """A run that is planned, executed or paused, and its owner: `holder` is its row among the leases, if it has one.

    `is_dead`: the owner is known to be dead. `seq` is the number of the run's last event.
    """

    run: RunKey
    seq: int
    holder: Holder | None
    is_dead: bool


class RunIndex(Protocol):
    """What a ledger knows of its runs without their events."""

    async def now(self) -> float:
        """Return the time in Unix seconds, by the clock that decides what is due: the server's, or this machine's."""

    async def last_run(self, thread: str) -> RunKey | None:
        """Return the thread's latest run, or None."""

    async def page(self, wanted: RunFilter) -> list[RunSummary]:
        """Return a page of the index of runs, the latest first; see `graph.ledger.search.matches` and `as_shown`.

        A page after an unknown run is empty.
        """

    async def waiting(self, limit: int, wanted: WaitingFilter = ALL, after: Waiting | None = None) -> list[RunSummary]:
        """Return rows of runs that wait for a person and are wanted, in the order of the filter, after this place."""

    async def waiting_count(self, wanted: WaitingFilter = ALL) -> int:
        """Return how many of them there are."""

    async def unfinished(self) -> list[Unfinished]:
        """Return the runs that are planned, executed or paused, the oldest first; those that wait are left out."""

    async def summaries(self, runs: Sequence[RunKey]) -> list[RunSummary]:
        """Return the rows of these runs in the index, in no order; runs that are not there are left out."""
