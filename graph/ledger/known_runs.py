"""The state of a run from one node to the next of the same process, which then reads only what was written since.

See `docs/decisions/0110-known-runs.md`.
"""

from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from planner_executor.graph.errors import UnknownEventError
from planner_executor.graph.large_work import LARGE, done_aside
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.ledger.run_states import projected
from planner_executor.graph.record.events import ValueRedacted
from planner_executor.graph.record.projection import apply_events
from planner_executor.graph.record.recorded_plans import RecordedPlans
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_state import RunState

MOST = 64
"""So many runs are kept; of those of which no further node comes, the oldest go first."""
MOST_STATES = 4_096
"""So many states that no node has taken up yet are remembered; the oldest go first."""


class Handed:
    """A value that a node leaves for the next one, with all that it was made of; it is taken once."""

    def __init__(self) -> None:
        self._left: tuple[Any, tuple[Any, ...]] | None = None

    def leave(self, value: Any, *of: Any) -> None:
        """Leave a value that was made of this."""
        self._left = value, of

    def take(self, *of: Any) -> Any:
        """Return the value that was left, None if it was made of something else."""
        left, self._left = self._left, None
        return left[0] if left is not None and left[1] == of else None


@dataclass(frozen=True)
class KnownRun:
    """A run as its events up to `record.seq` leave it, the models of its plans, and the request to be shown next.

    `interrupted` is what the last node was interrupted with, after the event of that number.
    """

    key: RunKey
    record: RunState
    plans: RecordedPlans = field(default_factory=RecordedPlans)
    request: Handed = field(default_factory=Handed)
    interrupted: tuple[int, tuple[Any, ...]] = (0, ())

    @property
    def asks(self) -> tuple[Any, ...]:
        """What the last node was interrupted with, empty if something happened since; a reader is given a copy."""
        seq, said = self.interrupted
        return said if seq == self.record.seq else ()


@dataclass
class _Node:
    """The run that the current node has opened last."""

    run: KnownRun | None = None


_node: ContextVar[_Node | None] = ContextVar("node", default=None)


class KnownRuns:
    """Runs as nodes left them, by thread; each is taken once, since its state is the taker's to change."""

    def __init__(self) -> None:
        self._left: OrderedDict[str, KnownRun] = OrderedDict()
        self._states: OrderedDict[tuple[RunKey, int], bool] = OrderedDict()
        self._ended: KnownRun | None = None

    @contextmanager
    def handing_on(self, *interrupts: type[BaseException]) -> Iterator[None]:
        """Keep the run that the node within opens, unless the node fails.

        One of `interrupts` is no failure, but the state of the graph stays that of the node before. Of the runs that
        have ended the last is kept, for `lent` alone.
        """
        node = _Node()
        token = _node.set(node)
        try:
            yield
        except interrupts as stop:
            run = node.run
            if run is not None and run.record.size <= LARGE:  # a larger run is not worth the memory
                run = replace(run, interrupted=(run.record.seq, stop.args))
            self._keep(run)
            raise
        finally:
            _node.reset(token)
        run = node.run
        if run is not None and run.record.ended is not None:
            self._ended = run
        elif run is not None:
            self._keep(run)
            self._states[run.key, run.record.seq] = True
            if len(self._states) > MOST_STATES:
                self._states.popitem(last=False)

    @asynccontextmanager
    async def lent(self, ledger: Ledger, thread: str) -> AsyncIterator[KnownRun | None]:
        """Lend the thread's latest run, up to date, to a reader; None unless a node left one (decision 176).

        The reader changes nothing but by events that it applies, and the next node takes the run up.
        """
        run, known = None, self._left.pop(thread, None)
        if known is None and self._ended is not None and self._ended.key.thread == thread:
            known, self._ended = self._ended, None
        if known is not None:
            with suppress(UnknownEventError):  # a newer release goes on with it
                run = await self._read(ledger, thread, known)
        yield run
        self._keep(run)

    def kept(self, key: RunKey) -> RunState | None:
        """Return the state of a run as it was read last, None if it is not kept."""
        run = self._left.get(key.thread)
        return run.record if run is not None and run.key == key else None

    def forget(self, thread: str) -> None:
        """Read the thread's run anew next time: its checkpoint was changed."""
        self._left.pop(thread, None)

    def goes_on(self, key: RunKey, seq: int) -> bool:
        """Take up a state with that last event; return whether a node of this process left it and none took it up.

        If two invocations of a thread run side by side, a decision in one is later than the state of the other, which
        is no fork (docs/decisions/0003-fork-or-crash.md).
        """
        return self._states.pop((key, seq), False)

    async def latest(self, ledger: Ledger, thread: str) -> KnownRun | None:
        """Return the thread's latest run, which the current node may hand on; None if it has none."""
        # Taken out: two nodes side by side must not fold events into the same state. A node may look twice.
        node = _node.get()
        own = node.run if node is not None and node.run is not None and node.run.key.thread == thread else None
        run = await self._read(ledger, thread, self._left.pop(thread, own))
        return _opened(run) if run is not None else None

    def _keep(self, run: KnownRun | None) -> None:
        """Keep a run that has not ended."""
        if run is not None and run.record.ended is None:
            self._left[run.key.thread] = run
            if len(self._left) > MOST:
                self._left.popitem(last=False)

    async def _read(self, ledger: Ledger, thread: str, known: KnownRun | None) -> KnownRun | None:
        """Return the thread's latest run, made of the one that is known as far as it is the same."""
        found = await ledger.latest(thread, *((known.key, known.record.seq) if known is not None else ()))
        if found is None:
            return None
        key, events = found
        if known is None or known.key != key:
            return KnownRun(key, await projected(events))
        if any(event.kind == ValueRedacted.kind for event in events):  # what it removed is in the state still
            events = await ledger.events(key)
            return KnownRun(key, await projected(events))
        record = await done_aside(len(events), partial(apply_events, known.record, events))
        return replace(known, record=record)


def opened(key: RunKey, record: RunState) -> KnownRun:
    """Return the run, which the current node may hand on."""
    return _opened(KnownRun(key, record))


def _opened(run: KnownRun) -> KnownRun:
    if (node := _node.get()) is not None:
        node.run = run
    return run
