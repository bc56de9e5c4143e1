"""Events of a run as a whole: start, setup, pauses, end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from planner_executor.graph.record.budget import NO_BUDGET, Budget, limits_of_a_run, read_budget
from planner_executor.graph.record.events.content import NO_CONTENT, Content, content_in
from planner_executor.graph.record.events.payload import Json, Payload, given, integer, number

WORDING = 7
"""Version of the wording of prompts and reviews, raised when the wording changes. Absent means 1."""

BY_FACADE = "facade"
"""`setup_by` of a run whose setup the facade gave; a setup without it may be a client's."""

ON_SERVER = "server"
"""`origin` of a run that a LangGraph server started, which keeps its checkpoints."""

ASKED, INTERRUPTED, HANDED_OVER = "asked to pause", "interrupted", "handed over"
"""Reasons for which a run is paused: by a person, or since its process ended; only the first one has to be undone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Configuration:
    """The terms of a run besides its budget: settings, role -> names of models, the tools and the policy.

    `executors` has the models that steps may name. `policy` has the whole policy, stored once for all runs under it,
    None if there is none, and `limits` repeats what it allows a run. Earlier releases kept it among the settings.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, Any] = field(default_factory=dict)
    executors: Mapping[str, Any] = field(default_factory=dict)
    tools: Content | None = None
    policy: Content | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, raw: Json) -> "Configuration":
        """Parse the output of `to_json`."""
        return cls(
            settings=raw.get("settings", {}),
            models=raw.get("models", {}),
            executors=raw.get("executors", {}),
            tools=content_in(raw, "tools"),
            policy=content_in(raw, "policy"),
            limits=raw.get("limits") or limits_of_a_run(raw.get("settings", {}).get("policy", {})),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the configuration as the ledger keeps it."""
        raw = {"settings": self.settings, "models": self.models, "executors": self.executors}
        stored = given(tools=self.tools and self.tools.to_json(), policy=self.policy and self.policy.to_json())
        return {**raw, **stored, **({"limits": self.limits} if self.limits else {})}


NO_CONFIGURATION = Configuration()


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStarted(Payload):
    """A run started: its goal, and all inputs of its decisions; the ledger sets `thread` and `n`.

    `history` has the messages of the chat before the goal. `pictures` has type, size and digest of the pictures beside
    the goal, `attached` their bytes. `setup` is the data to resume the run elsewhere; it comes from the facade only if
    `setup_by` is `BY_FACADE`. `origin` is `BY_FACADE` or `ON_SERVER`; None if the graph was invoked otherwise, or by an
    earlier release. `invocation` is a graph server's id of the invocation, `started_by` the user who asked for it.
    """

    kind: ClassVar[Literal["run_started"]] = "run_started"

    goal: str
    constraints: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    wording: int = 1
    history: tuple[Mapping[str, str], ...] = ()
    pictures: tuple[Mapping[str, Any], ...] = ()
    attached: Content | None = None
    setup: Mapping[str, Any] = field(default_factory=dict)
    setup_by: str | None = None
    origin: str | None = None
    configured: Configuration | None = None
    budget: Budget = NO_BUDGET
    invocation: str | None = None
    thread: str = ""
    n: int = 0
    started_by: str | None = None

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            "goal": self.goal,
            "constraints": list(self.constraints),
            **given(tags=list(self.tags)),
            **({"wording": self.wording} if self.wording > 1 else {}),
            "history": list(self.history),
            **given(pictures=list(self.pictures), attached=self.attached and self.attached.to_json()),
            "setup": self.setup,
            **given(setup_by=self.setup_by, origin=self.origin),
            **given(configured=self.configured and self.configured.to_json()),
            "budget": self.budget.to_json(),
            **given(invocation=self.invocation),
            "thread": self.thread,
            "n": self.n,
            **given(started_by=self.started_by),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            goal=raw["goal"],
            constraints=tuple(raw["constraints"]),
            tags=tuple(raw.get("tags", ())),
            wording=number(raw.get("wording")) or 1,
            history=tuple(raw.get("history", ())),
            pictures=tuple(raw.get("pictures", ())),
            attached=content_in(raw, "attached"),
            setup=raw.get("setup") or {},
            setup_by=raw.get("setup_by"),
            origin=raw.get("origin"),
            configured=Configuration.from_json(raw["configured"]) if "configured" in raw else None,
            budget=read_budget(raw.get("budget", {}))[0],
            invocation=raw.get("invocation"),
            thread=raw["thread"],
            n=integer(raw, "n"),
            started_by=raw.get("started_by"),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Configured(Payload):
    """The run continues under other terms: stricter ones, or those that `approver` took it over under.

    `budget` bounds the run's from now on, None if it stays. Earlier releases recorded any change, without an approver.
    """

    kind: ClassVar[Literal["configured"]] = "configured"
    is_aside: ClassVar[bool] = True

    configuration: Configuration
    budget: Budget | None = None
    approver: str | None = None
    roles: tuple[str, ...] = ()

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        budget = self.budget and self.budget.to_json()
        by = given(budget=budget, approver=self.approver, roles=list(self.roles))
        return {**self.configuration.to_json(), **by}

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            configuration=Configuration.from_json(raw),
            budget=read_budget(raw["budget"])[0] if "budget" in raw else None,
            approver=raw.get("approver"),
            roles=tuple(raw.get("roles", ())),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerReplaced(Payload):
    """Another process continues the run: `process` had not released it, and `is_dead` if it was known to be dead.

    Otherwise it showed no sign of life for the time of a lease: it may only stand still, and go on later.
    """

    kind: ClassVar[Literal["owner_replaced"]] = "owner_replaced"
    is_aside: ClassVar[bool] = True

    process: str
    is_dead: bool

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {"process": self.process, "is_dead": self.is_dead}

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(process=raw["process"], is_dead=raw["is_dead"] is True, checkpoint=raw.get("checkpoint"))


@dataclass(frozen=True, kw_only=True, slots=True)
class TakeOverAsked(Payload):
    """A person asked to take the run over under other terms, and others have to as well, as `missing` says.

    `terms` is the digest of those terms: who asks for the same counts together.
    """

    kind: ClassVar[Literal["take_over_asked"]] = "take_over_asked"
    is_aside: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    terms: str
    differs: str
    missing: str
    approver: str
    roles: tuple[str, ...] = ()

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        asked = {"terms": self.terms, "differs": self.differs, "missing": self.missing}
        return {**asked, "approver": self.approver, "roles": list(self.roles)}

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            terms=raw["terms"],
            differs=raw["differs"],
            missing=raw["missing"],
            approver=raw["approver"],
            roles=tuple(raw.get("roles", ())),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Paused(Payload):
    """The run was paused on request, interrupted by its user, or has used up a cap across runs.

    `due_at` is when that cap allows the next call, in Unix seconds, `by` is who asked.
    """

    kind: ClassVar[Literal["paused"]] = "paused"

    reason: str
    due_at: float | None = None
    by: str | None = None

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {"reason": self.reason, **given(due_at=self.due_at, by=self.by)}

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            reason=raw["reason"],
            due_at=number(raw.get("due_at")),
            by=raw.get("by"),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, slots=True)
class LeftPayload:
    """The digest of the payload that a redaction left for event `seq`."""

    seq: int
    digest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueRedacted(Payload):
    """A value was removed from events of the run."""

    kind: ClassVar[Literal["redacted"]] = "redacted"
    is_aside: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    left: tuple[LeftPayload, ...]
    by: str
    reason: str

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        left = [{"seq": one.seq, "digest": one.digest} for one in self.left]
        return {"left": left, "by": self.by, "reason": self.reason}

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        left = tuple(LeftPayload(integer(one, "seq"), one["digest"]) for one in raw["left"])
        return cls(left=left, by=raw["by"], reason=raw["reason"], checkpoint=raw.get("checkpoint"))


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEnded(Payload):
    """The run ended: status, reason and answer.

    `read_as` has the normalizations of a planner's direct answer, `by` is who cancelled it.
    """

    kind: ClassVar[Literal["run_ended"]] = "run_ended"
    is_control: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    status: str
    reason: str
    answer: Content = NO_CONTENT
    read_as: tuple[str, ...] = ()
    by: str | None = None

    @property
    def is_cancelled(self) -> bool:
        """Whether the run was cancelled."""
        return (self.status, self.reason, self.answer) == ("cancelled", "cancelled", NO_CONTENT)

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        raw = {"status": self.status, "reason": self.reason, **self.answer.to_json()}
        return {**raw, **given(read_as=list(self.read_as), by=self.by)}

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            status=raw["status"],
            reason=raw["reason"],
            answer=Content.from_json(raw),
            read_as=tuple(raw.get("read_as", ())),
            by=raw.get("by"),
            checkpoint=raw.get("checkpoint"),
        )


def cancelled(checkpoint: str | None = None, by: str | None = None) -> RunEnded:
    """Return the end of a run that a person cancelled."""
    return RunEnded(status="cancelled", reason="cancelled", by=by, checkpoint=checkpoint)
