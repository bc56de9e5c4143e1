"""The heartbeat of the leases that a process holds, sent by the writer's thread."""

from collections.abc import Collection
from functools import partial

from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.sqlite.writer import Pulse
from planner_executor.graph.ledger.tables.leases import beat


def beats_of(held: Collection[Lease]) -> Pulse:
    """Return the heartbeat of the leases held; it refers to the collection, not to the ledger that owns it."""
    return lambda: [partial(beat, leases=tuple(held))] if held else []
