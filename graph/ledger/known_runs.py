"""The state of a run from one node to the next of the same process, which then reads only what was written since.

See `docs/decisions/0110-known-runs.md`.
"""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial

from planner_executor.graph.large_work import done_aside
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


@dataclass(frozen=True)
class KnownRun:
    """A run as its events up to `record.seq` leave it, and the models of its plans."""

    key: RunKey
    record: RunState
    plans: RecordedPlans = field(default_factory=RecordedPlans)


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

    @contextmanager
    def handing_on(self) -> Iterator[None]:
        """Keep the run that the node within opens, unless the node fails or the run has ended."""
        node = _Node()
        token = _node.set(node)
        try:
            yield
        finally:
            _node.reset(token)
        if node.run is not None and node.run.record.ended is None:
            self._left[node.run.key.thread] = node.run
            if len(self._left) > MOST:
                self._left.popitem(last=False)
            self._states[node.run.key, node.run.record.seq] = True
            if len(self._states) > MOST_STATES:
                self._states.popitem(last=False)

    def goes_on(self, key: RunKey, seq: int) -> bool:
        """Take up a state with that last event; return whether a node of this process left it and none took it up.

        If two invocations of a thread run side by side, a decision in one is later than the state of the other, which
        is no fork (docs/decisions/0003-fork-or-crash.md).
        """
        return self._states.pop((key, seq), False)

    async def latest(self, ledger: Ledger, thread: str) -> KnownRun | None:
        """Return the thread's latest run, None if it has none."""
        # Taken out: two nodes side by side must not fold events into the same state.
        known = self._left.pop(thread, None)
        found = await ledger.latest(thread, *((known.key, known.record.seq) if known is not None else ()))
        if found is None:
            return None
        key, events = found
        if known is None or known.key != key:
            return opened(key, await projected(events))
        if any(event.kind == ValueRedacted.kind for event in events):  # what it removed is in the state still
            events = await ledger.events(key)
            return opened(key, await projected(events))
        record = await done_aside(len(events), partial(apply_events, known.record, events))
        return _opened(KnownRun(key, record, known.plans))


def opened(key: RunKey, record: RunState) -> KnownRun:
    """Return the run, which the current node may hand on."""
    return _opened(KnownRun(key, record))


def _opened(run: KnownRun) -> KnownRun:
    if (node := _node.get()) is not None:
        node.run = run
    return run
