"""The index of runs in a file, read without a ledger: lists need no thread, no event loop and no events."""

import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from planner_executor.graph.ledger.run_index import Unfinished
from planner_executor.graph.ledger.sqlite.reading_connection import ReadingConnection, read_file
from planner_executor.graph.ledger.sqlite.run_search import page
from planner_executor.graph.ledger.tables import search
from planner_executor.graph.ledger.tables.run_names import last_number
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.record.waiting_filter import ALL, Waiting, WaitingFilter

Result = TypeVar("Result")


class IndexFile:
    """See `graph.ledger.run_index.RunIndex`; one transaction, whose answers are there at once."""

    def __init__(self, db: ReadingConnection) -> None:
        self._db = db

    async def now(self) -> float:
        """Return the time of this machine."""
        return time.time()

    async def last_run(self, thread: str) -> RunKey | None:
        """Return the thread's latest run, or None."""
        n = last_number(self._db, thread)
        return RunKey(thread, n) if n else None

    async def page(self, wanted: RunFilter) -> list[RunSummary]:
        """Return a page of the index, the latest first."""
        return page(self._db, wanted)

    async def waiting(self, limit: int, wanted: WaitingFilter = ALL, after: Waiting | None = None) -> list[RunSummary]:
        """Return rows of runs that wait for a person and are wanted, in the order of the filter."""
        return search.waiting(self._db, limit, wanted, after)

    async def waiting_count(self, wanted: WaitingFilter = ALL) -> int:
        """Return how many of them there are."""
        return search.waiting_count(self._db, wanted)

    async def unfinished(self) -> list[Unfinished]:
        """Return the runs that are planned, executed or paused, the oldest first."""
        return search.unfinished(self._db, 0.0)  # a file has not timed how long an owner is silent

    async def summaries(self, runs: Sequence[RunKey]) -> list[RunSummary]:
        """Return the rows of these runs."""
        return search.summaries(self._db, runs)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is due for any open request."""
        return not search.due(self._db, time.time(), 1, 0)


def read_index(path: str, do: Callable[[IndexFile], Coroutine[Any, Any, Result]]) -> Result | None:
    """Return what a function reads of the index of a file, None if a ledger has to open it; see `read_file`."""
    return read_file(path, ReadingConnection, lambda db: _at_once(do(IndexFile(db))))


def _at_once(answer: Coroutine[Any, Any, Result]) -> Result:
    """Return what a coroutine returns that waits for nothing."""
    try:
        answer.send(None)
    except StopIteration as done:
        found: Result = done.value
        return found
    raise AssertionError(f"{answer!r} waits")
