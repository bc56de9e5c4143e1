"""Events of the time to decide a request: reminders, escalation, expiry, and answers that came too late."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from planner_executor.graph.record.codec import As, Written
from planner_executor.graph.record.deadline import OnExpire, on_expire_of
from planner_executor.graph.record.events.content import NO_CONTENT, Content
from planner_executor.graph.record.events.payload import Payload


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class _FellDue(Payload):
    """A request that expires at `expires_at` reached a moment of its deadline, `after_s` seconds after it began."""

    request: int
    after_s: float
    expires_at: float


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ReviewReminded(_FellDue, is_aside=True):
    """People were reminded of a request."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ReviewEscalated(_FellDue, is_aside=True, must_last=True):
    """Others may decide a request too: those to whom the policy escalates it then."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ReviewExpired(Payload, is_control=True, must_last=True):
    """Nobody decided a request with this subject until `expired_at`, and it is closed as the policy says.

    `rejected` has the reason by key of each held call, which thereby counts as rejected. If the run `ends`, the next
    event says how.
    """

    request: int
    subject: str
    expired_at: float
    on_expire: Annotated[OnExpire, As(str, on_expire_of)]
    rejected: Mapping[str, str] = field(default_factory=dict)
    ends: bool = False


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class LateAnswer(Payload, is_aside=True, must_last=True):
    """An answer refused with `error`: its request had expired, or, of one to be kept, its author may not decide.

    `unseen` means that it was given in advance.
    """

    request: int
    answer: Written[Content] = NO_CONTENT
    unseen: bool = False
    error: str
    approver: str
    roles: tuple[str, ...] = ()
