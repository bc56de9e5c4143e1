"""Events of the time to decide a request: reminders, escalation, expiry, and answers that came too late."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from planner_executor.graph.record.deadline import OnExpire
from planner_executor.graph.record.events.content import NO_CONTENT, Content
from planner_executor.graph.record.events.payload import Json, Payload, given, integer, real


@dataclass(frozen=True, kw_only=True, slots=True)
class _FellDue(Payload):
    """A request that expires at `expires_at` reached a moment of its deadline, `after_s` seconds after it began."""

    is_aside: ClassVar[bool] = True

    request: int
    after_s: float
    expires_at: float

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {"request": self.request, "after_s": self.after_s, "expires_at": self.expires_at}

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            request=integer(raw, "request"),
            after_s=real(raw, "after_s"),
            expires_at=real(raw, "expires_at"),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewReminded(_FellDue):
    """People were reminded of a request."""

    kind: ClassVar[Literal["review_reminded"]] = "review_reminded"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewEscalated(_FellDue):
    """Others may decide a request too: those to whom the policy escalates it then."""

    kind: ClassVar[Literal["review_escalated"]] = "review_escalated"
    must_last: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewExpired(Payload):
    """Nobody decided a request with this subject until `expired_at`, and it is closed as the policy says.

    `rejected` has the reason by key of each held call, which thereby counts as rejected. If the run `ends`, the next
    event says how.
    """

    kind: ClassVar[Literal["review_expired"]] = "review_expired"
    is_control: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    request: int
    subject: str
    expired_at: float
    on_expire: OnExpire
    rejected: Mapping[str, str] = field(default_factory=dict)
    ends: bool = False

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            "request": self.request,
            "subject": self.subject,
            "expired_at": self.expired_at,
            "on_expire": self.on_expire,
            **given(rejected=dict(self.rejected) or None, ends=self.ends),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            request=integer(raw, "request"),
            subject=raw["subject"],
            expired_at=real(raw, "expired_at"),
            on_expire="end" if raw["on_expire"] == "end" else "reject",
            rejected=raw.get("rejected", {}),
            ends=raw.get("ends", False),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class LateAnswer(Payload):
    """An answer refused with `error`: its request had expired, or, of one to be kept, its author may not decide.

    `unseen` means that it was given in advance.
    """

    kind: ClassVar[Literal["late_answer"]] = "late_answer"
    is_aside: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    request: int
    answer: Content = NO_CONTENT
    unseen: bool = False
    error: str
    approver: str
    roles: tuple[str, ...] = ()

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            "request": self.request,
            "answer": self.answer.to_json(),
            **given(unseen=self.unseen),
            "error": self.error,
            "approver": self.approver,
            **given(roles=list(self.roles)),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            request=integer(raw, "request"),
            answer=Content.from_json(raw.get("answer", {})),
            unseen=raw.get("unseen", False),
            error=raw["error"],
            approver=raw["approver"],
            roles=tuple(raw.get("roles", ())),
            checkpoint=raw.get("checkpoint"),
        )
