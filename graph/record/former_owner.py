"""The process that left a call without an outcome, once another one continues its run."""

from dataclasses import dataclass
from typing import Any

from planner_executor.graph.record.events.payload import Json


@dataclass(frozen=True, slots=True)
class FormerOwner:
    """A process, as `graph.ledger.owner` names it, and whether it was known to be dead."""

    process: str
    is_dead: bool

    def to_json(self) -> dict[str, Any]:
        """Return it as the ledger keeps it."""
        return {"process": self.process, "is_dead": self.is_dead}


def former_owner_in(raw: Json) -> FormerOwner | None:
    """Return the former owner in a payload, None if it has none."""
    left_by = raw.get("left_by")
    return FormerOwner(left_by["process"], left_by["is_dead"] is True) if left_by is not None else None
