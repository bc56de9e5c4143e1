"""Runs as the desk shows them: read from the database alone, whoever executes them."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from planner_executor.graph.desk.threads import on_thread
from planner_executor.graph.nodes.run.review_clock import settle
from planner_executor.graph.record.events import ON_SERVER, Event, ValueRedacted
from planner_executor.graph.record.projection import apply_events, known, project
from planner_executor.graph.record.recorded_plans import RecordedPlans
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.runs.run import Run, run_of
from planner_executor.graph.runs.runs import Runs, open_runs
from planner_executor.graph.runs.stored_responses import open_request

MOST_RUNS = 32
"""Runs whose events are kept between two looks."""
MOST_NEWS = 100
"""With more new events the state is projected anew on a thread: a state that others read changes on the event loop."""


@dataclass(frozen=True)
class ShownRun:
    """A run, its events and its state; `executing` means that a process works on it.

    Whoever reads the state on a thread holds `reading`; while it is held, the state does not change.
    """

    key: RunKey
    run: Run
    events: Sequence[Event]
    record: RunState
    executing: bool
    reading: asyncio.Lock = field(default_factory=asyncio.Lock, compare=False, repr=False)

    @property
    def seq(self) -> int:
        """The number of the last event."""
        return self.events[-1].seq if self.events else 0

    @property
    def is_on_server(self) -> bool:
        """Whether a LangGraph server began the run, which may keep its checkpoints elsewhere, or in memory."""
        return self.record.assignment.origin == ON_SERVER


@dataclass
class _KeptRun:
    """What is kept of a run between two looks."""

    events: list[Event] = field(default_factory=list)
    record: RunState = field(default_factory=RunState)
    plans: RecordedPlans = field(default_factory=RecordedPlans)
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass
class Records:
    """The runs of a database and the requests that they wait with."""

    runs: Runs
    _kept: "OrderedDict[RunKey, _KeptRun]" = field(default_factory=OrderedDict)

    async def show(self, name: str) -> ShownRun:
        """Return a run, with its open request.

        Raises:
            UnknownRunError: There is no such run.
            LedgerError: Its record cannot be read.
        """
        shown = await self.without_request(await self.runs.find(name))
        request = await open_request(self.runs.ledger, shown.record)
        return replace(shown, run=shown.run.with_request(request)) if request is not None else shown

    async def without_request(self, key: RunKey) -> ShownRun:
        """Return a run without its open request, for readers that only follow it."""
        read = await self._read_news(key)
        # Before it is shown: a request that has run out must not be offered.
        if read.record.is_due(await self.runs.ledger.now()):
            await settle(self.runs.ledger, key)
            read = await self._read_news(key)
        executing = await self.runs.ledger.is_worked_on(key)
        # One thread at a time reads a run's state (decision 103).
        async with read.reading:
            run = await on_thread(lambda: run_of(read.record, executing, read.plans))
            return ShownRun(key, run, tuple(read.events), read.record, executing, read.reading)

    async def _read_news(self, key: RunKey) -> _KeptRun:
        """Read the new events of a run, or all of them after a redaction, which changes earlier ones.

        A long projection runs on a thread, over a state that nobody reads yet; a short one changes the state in place,
        once no thread reads it (decision 103).
        """
        read = self._kept.get(key)
        news = await self.runs.ledger.events(key, after=_last(read))
        if read is None or any(event.kind == ValueRedacted.kind for event in news):
            read = await _projected(news if read is None else await self.runs.ledger.events(key))
        elif len(news) > MOST_NEWS:
            read = await _projected([*read.events, *news])
        elif news:
            async with read.reading:
                if _last(read) < news[0].seq:  # another reader may have been first
                    read.events.extend(news)
                    apply_events(read.record, known(news))
        self._kept[key] = read
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_RUNS:
            self._kept.popitem(last=False)
        return read


async def _projected(events: Sequence[Event]) -> _KeptRun:
    return _KeptRun(list(events), await on_thread(lambda: project(known(events))))


def _last(read: _KeptRun | None) -> int:
    return read.events[-1].seq if read is not None and read.events else 0


@asynccontextmanager
async def open_records(database: str | Path) -> AsyncIterator[Records]:
    """Open a database for the desk."""
    async with open_runs(database) as runs:
        yield Records(runs)
