"""The event of a cap across runs that was reached."""

from dataclasses import dataclass

from planner_executor.graph.record.codec import Shown, Written
from planner_executor.graph.record.events.payload import Payload


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class CapReached(Payload):
    """A call was not made, because a cap across runs allows it only from `due_at` on (Unix seconds).

    `cap` is its name as in a budget, or the name of the tool or model under a rate; `allows` is the cap in words.
    """

    cap: str
    allows: str
    due_at: Written[Shown[float | None]] = None
