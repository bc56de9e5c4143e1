"""Events of standing approvals that hold within one run."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from planner_executor.graph.record.codec import Inline
from planner_executor.graph.record.events.payload import Payload
from planner_executor.graph.record.standing_approval import StandingApproval


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class StandingGiven(Payload):
    """A person approved further calls of a tool in this run, within bounds; written with the decision."""

    kind: ClassVar[Literal["standing_given"]] = "standing_given"
    is_aside: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    approval: Inline[StandingApproval]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class StandingRevoked(Payload):
    """A standing approval holds no longer; only the owner of the run writes it, so that no call starts on it after."""

    kind: ClassVar[Literal["standing_revoked"]] = "standing_revoked"
    is_aside: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    id: str
    approver: str
