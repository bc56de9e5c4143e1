"""Runs whose events are folded in memory, so that an event costs a driver no look at those before it."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graph.record.counters import RunCounter
from graph.record.events import Event
from graph.record.step_history import StepHistory
from graph.record.summary import RunSummary, Summarizer

MOST = 4_096
"""So many runs are kept: those that were written to last."""


@dataclass
class FoldedRun:
    """A run as far as it was folded; `link` is the hash of the last event that was, `row` the row written then."""

    summarizer: Summarizer
    counter: RunCounter = field(default_factory=RunCounter)
    history: StepHistory = field(default_factory=StepHistory)
    link: bytes = b""
    row: RunSummary | None = None

    @classmethod
    def of(cls, thread: str, n: int, events: Iterable[Event], before_seq: int) -> "FoldedRun":
        """Fold a run's events before that sequence number."""
        folded = cls(Summarizer(thread, n))
        earlier: Sequence[Event] = [event for event in events if event.seq < before_seq]
        folded.summarizer.apply(earlier)
        folded.counter.count(earlier)
        folded.history.apply(earlier)
        return folded


class FoldedRuns:
    """The runs of one database.

    A transaction that was rolled back, and another process's events, show in the hash of the run's last event: the run
    is then folded anew.
    """

    def __init__(self) -> None:
        self._runs: OrderedDict[int, FoldedRun] = OrderedDict()

    def take(self, run_id: int, link: bytes) -> FoldedRun | None:
        """Take out a run that was folded up to the event with this hash; None if there is none."""
        folded = self._runs.pop(run_id, None)
        return folded if folded is not None and folded.link == link else None

    def keep(self, run_id: int, folded: FoldedRun) -> None:
        """Keep a run until it is taken, and others have been written to."""
        self._runs[run_id] = folded
        while len(self._runs) > MOST:
            self._runs.popitem(last=False)

    def forget(self, run_id: int) -> None:
        """Drop a run whose earlier events have changed."""
        self._runs.pop(run_id, None)
