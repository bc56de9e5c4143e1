"""Events of votes: decisions of single people on a request that takes several."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from planner_executor.graph.record.events.payload import Json, Payload, integer


@dataclass(frozen=True, kw_only=True, slots=True)
class Voted(Payload):
    """A person approved the request with this subject, and others have to as well.

    `says` is the digest of the decisions: votes count together if they say the same.
    """

    kind: ClassVar[Literal["voted"]] = "voted"
    is_aside: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    request: int
    subject: str
    says: str
    decisions: tuple[Mapping[str, Any], ...] = ()
    missing: str
    approver: str
    roles: tuple[str, ...] = ()

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            "request": self.request,
            "subject": self.subject,
            "says": self.says,
            "decisions": list(self.decisions),
            "missing": self.missing,
            "approver": self.approver,
            "roles": list(self.roles),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            request=integer(raw, "request"),
            subject=raw["subject"],
            says=raw["says"],
            decisions=tuple(raw.get("decisions", ())),
            missing=raw["missing"],
            approver=raw["approver"],
            roles=tuple(raw.get("roles", ())),
            checkpoint=raw.get("checkpoint"),
        )
