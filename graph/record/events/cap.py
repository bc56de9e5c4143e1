"""The event of a cap across runs that was reached."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from planner_executor.graph.record.events.payload import Json, Payload, number


@dataclass(frozen=True, kw_only=True, slots=True)
class CapReached(Payload):
    """A call was not made, because a cap across runs allows it only from `due_at` on (Unix seconds).

    `cap` is its name as in a budget, or the name of the tool or model under a rate; `allows` is the cap in words.
    """

    kind: ClassVar[Literal["cap_reached"]] = "cap_reached"

    cap: str
    allows: str
    due_at: float | None = None

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {"cap": self.cap, "allows": self.allows, "due_at": self.due_at}

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            cap=raw["cap"],
            allows=raw["allows"],
            due_at=number(raw.get("due_at")),
            checkpoint=raw.get("checkpoint"),
        )
