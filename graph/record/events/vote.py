"""Events of votes: decisions of single people on a request that takes several."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.record.codec import Written
from planner_executor.graph.record.events.payload import Payload


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Voted(Payload, is_aside=True, must_last=True):
    """A person approved the request with this subject, and others have to as well.

    `says` is the digest of the decisions: votes count together if they say the same.
    """

    request: int
    subject: str
    says: str
    decisions: Written[tuple[Mapping[str, Any], ...]] = ()
    missing: str
    approver: str
    roles: Written[tuple[str, ...]] = ()
