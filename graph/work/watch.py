"""Abandoned runs: unfinished runs that do not move for as long as an owner may be silent (decision 65).

A process that executes a run owns it only within nodes. Between two nodes the run is free for a moment, so a free run
is watched too. Only the worker's own monotonic clock counts; clocks of other machines are never compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner_executor.graph.ledger.run_index import Unfinished
from planner_executor.graph.record.run_key import RunKey


@dataclass(frozen=True)
class Sight:
    """A run in a state that has not changed since `since_s` of the worker's clock."""

    found: Unfinished
    since_s: float


Sights = Mapping[RunKey, Sight]


def seen(before: Sights, found: Sequence[Unfinished], now_s: float) -> dict[RunKey, Sight]:
    """Return the sights after another look; a run that has moved begins anew."""
    return {
        one.run: sight if (sight := before.get(one.run)) is not None and sight.found == one else Sight(one, now_s)
        for one in found
    }


def is_abandoned(sight: Sight, now_s: float, silent_s: float) -> bool:
    """Whether nobody works on a run: its owner is dead, or nothing of it has moved for `silent_s` seconds."""
    return sight.found.is_dead or now_s - sight.since_s >= silent_s
