"""Runs as the desk shows them: read from the database alone, whoever executes them."""

from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from graph.ledger.protocol import RunKey
from graph.record.events import ON_SERVER, Event
from graph.record.projection import apply_events, known, project
from graph.record.run_state import RunState
from graph.review_clock import is_due, settle
from graph.runs import Run, Runs, open_runs
from graph.runs.run import run_of
from graph.stored_responses import open_request

MOST_RUNS = 32
"""Runs whose events are kept between two looks."""
REDACTED = "redacted"


@dataclass(frozen=True)
class ShownRun:
    """A run, its events and its state; `executing` means that a process works on it."""

    key: RunKey
    run: Run
    events: Sequence[Event]
    record: RunState
    executing: bool

    @property
    def seq(self) -> int:
        """The number of the last event."""
        return self.events[-1].seq if self.events else 0

    @property
    def is_on_server(self) -> bool:
        """Whether a LangGraph server began the run, which may keep its checkpoints elsewhere, or in memory."""
        return self.record.assignment.origin == ON_SERVER


@dataclass
class _Read:
    """What was read of a run."""

    events: list[Event] = field(default_factory=list)
    record: RunState = field(default_factory=RunState)


@dataclass
class Records:
    """The runs of a database and the requests that they wait with."""

    runs: Runs
    _read: "OrderedDict[RunKey, _Read]" = field(default_factory=OrderedDict)

    async def show(self, name: str) -> ShownRun:
        """Return a run, with its open request.

        Raises:
            UnknownRunError: There is no such run.
            LedgerError: Its record cannot be read.
        """
        shown = await self.stand(await self.runs.find(name))
        request = await open_request(self.runs.ledger, shown.record, shown.events)
        return replace(shown, run=shown.run.with_request(request)) if request is not None else shown

    async def stand(self, key: RunKey) -> ShownRun:
        """Return a run without its request, for those who only follow it."""
        read = await self._news(key)
        if await is_due(self.runs.ledger, read.record):
            await settle(self.runs.ledger, key)
            read = await self._news(key)
        executing = await self.runs.ledger.is_worked_on(key)
        return ShownRun(key, run_of(read.record, executing), tuple(read.events), read.record, executing)

    async def _news(self, key: RunKey) -> _Read:
        """Read what is new in a run; a redaction changes earlier events, and everything is read again."""
        read = self._read.get(key)
        news = await self.runs.ledger.events(key, after=_last(read))
        if read is None or any(event.kind == REDACTED for event in news):
            events = news if read is None else await self.runs.ledger.events(key)
            read = _Read(list(events), project(known(events)))
        elif news and _last(read) < news[0].seq:  # another reader may have been first
            read.events.extend(news)
            apply_events(read.record, known(news))
        self._read[key] = read
        self._read.move_to_end(key)
        while len(self._read) > MOST_RUNS:
            self._read.popitem(last=False)
        return read


def _last(read: _Read | None) -> int:
    return read.events[-1].seq if read is not None and read.events else 0


@asynccontextmanager
async def open_records(database: str | Path) -> AsyncIterator[Records]:
    """Open a database for the desk."""
    async with open_runs(database) as runs:
        yield Records(runs)
