"""The process that left a call without an outcome, once another one continues its run."""

from dataclasses import dataclass

from planner_executor.graph.record.codec import Coded


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FormerOwner(Coded):
    """A process, as `graph.ledger.owner` names it, and whether it was known to be dead."""

    process: str
    is_dead: bool
