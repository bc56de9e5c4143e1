"""Runs whose events are folded in memory, so that an event costs a driver no look at those before it."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from planner_executor.graph.ledger.chain import Row
from planner_executor.graph.record.counters import Counts, RunCounter
from planner_executor.graph.record.events import Event, RunEnded
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.sample import Samples
from planner_executor.graph.record.step_history import StepHistory
from planner_executor.graph.record.summarizer import Summarizer
from planner_executor.graph.record.summary import RunSummary

MOST = 512
"""So many runs are kept, each with its whole state: those that were written to last."""
MOST_READ = 64
"""So many runs are kept that were read and not written to yet."""


class IndexChange(NamedTuple):
    """What events bring: the run's row in the index, additions to the counters over all runs, what steps took."""

    row: RunSummary
    counts: Counts
    samples: Samples


class RunFold:
    """A run's events as far as they were folded, each once and in order."""

    def __init__(self, thread: str, n: int) -> None:
        self._summarizer, self._counter, self._history = Summarizer(thread, n), RunCounter(), StepHistory()

    def apply(self, events: Iterable[Event]) -> IndexChange:
        """Fold more events."""
        read = list(events)
        row = self._summarizer.apply(read).summary
        return IndexChange(row, self._counter.count(read), self._history.apply(read))


class _KeptRun(NamedTuple):
    """`link` is the hash of the last event that was folded, `row` the row written then."""

    fold: RunFold
    link: bytes
    row: RunSummary


class FoldedRuns:
    """The runs of one database.

    A transaction that was rolled back, and another process's events, show in the hash of the run's last event: the run
    is then folded anew, or as it was read since. `has_read` may be called on any thread.
    """

    def __init__(self) -> None:
        self._runs: OrderedDict[int, _KeptRun | None] = OrderedDict()
        self._read: dict[bytes, RunFold] = {}

    def has_read(self, run: RunKey, rows: Sequence[Row], events: Iterable[Event]) -> None:
        """Fold a run that was read from its first event on, so that its next event reads none of it again."""
        if not rows or rows[-1].kind == RunEnded.kind:  # nothing is likely to follow
            return
        fold = RunFold(run.thread, run.n)
        fold.apply(events)
        if len(self._read) >= MOST_READ:
            self._read.clear()
        self._read[rows[-1].link] = fold

    def apply(
        self, run_id: int, before: bytes, events: Iterable[Event], link: bytes, anew: Callable[[], RunFold]
    ) -> tuple[IndexChange, RunSummary | None]:
        """Fold events that were just written; return the row of before too, if it is known to be stored.

        Args:
            run_id: The run, as the tables know it.
            before: The hash that the events are chained to.
            events: The events.
            link: The hash of the last of them.
            anew: Folds the events before these, for a run that is not kept.
        """
        read, kept = self._read.pop(before, None), None
        if run_id in self._runs:
            kept = self._runs.pop(run_id)
            if kept is None:  # what was read has changed since
                read = None
            elif kept.link != before:
                kept = None
        fold = kept.fold if kept is not None else read or anew()
        change = fold.apply(events)
        if change.row.ended_at is None:  # few events follow an end, and a long run's fold is large
            self._runs[run_id] = _KeptRun(fold, link, change.row)
        while len(self._runs) > MOST:
            self._runs.popitem(last=False)
        return change, kept.row if kept is not None else None

    def forget(self, run_id: int) -> None:
        """Fold a run anew at its next event: earlier events have changed."""
        # Not left out: a fold that was read before has the earlier events too, and must not be taken.
        self._runs[run_id] = None
