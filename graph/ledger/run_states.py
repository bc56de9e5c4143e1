"""The state of a run, made of its events off the event loop if they are many (decision 152)."""

from collections.abc import Sequence
from functools import partial

from planner_executor.graph.large_work import done_aside
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.projection import known, project
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_state import RunState


async def state_of(ledger: Ledger, run: RunKey) -> RunState:
    """Return the state of a run.

    Raises:
        UnknownEventError: A newer release wrote one of its events.
    """
    return await projected(await ledger.events(run))


async def projected(events: Sequence[Event]) -> RunState:
    """Return the state of a run from its events, see `project`."""
    return await done_aside(len(events), partial(project, events))


async def known_state(events: Sequence[Event]) -> tuple[list[Event], RunState]:
    """Return the events that this release can read, and the state of the run as they show it."""

    def read() -> tuple[list[Event], RunState]:
        found = known(events)
        return found, project(found)

    return await done_aside(len(events), read)
