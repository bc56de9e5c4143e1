"""Events of standing approvals that hold within one run."""

from dataclasses import dataclass

from planner_executor.graph.record.codec import Inline
from planner_executor.graph.record.events.payload import Payload
from planner_executor.graph.record.standing_approval import StandingApproval


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class StandingGiven(Payload, is_aside=True, must_last=True):
    """A person approved further calls of a tool in this run, within bounds; written with the decision."""

    approval: Inline[StandingApproval]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class StandingRevoked(Payload, is_aside=True, must_last=True):
    """A standing approval holds no longer; only the owner of the run writes it, so that no call starts on it after."""

    id: str
    approver: str
