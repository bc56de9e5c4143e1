"""Events of a run as a whole: start, setup, pauses, end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from planner_executor.graph.record.budget import NO_BUDGET, Budget, limits_of_a_run
from planner_executor.graph.record.codec import Coded, Inline, Json, Needed, Shown, Written
from planner_executor.graph.record.events.content import NO_CONTENT, Content
from planner_executor.graph.record.events.payload import Payload
from planner_executor.graph.record.run_status import EndStatus

WORDING = 10
"""Version of the wording of prompts and reviews, raised when the wording changes. Absent means 1."""

BY_FACADE = "facade"
"""`setup_by` of a run whose setup the facade gave; a setup without it may be a client's."""

ON_SERVER = "server"
"""`origin` of a run that a LangGraph server started, which keeps its checkpoints."""

ASKED, INTERRUPTED, HANDED_OVER = "asked to pause", "interrupted", "handed over"
"""Reasons for which a run is paused: by a person, or since its process ended; only the first one has to be undone."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Configuration(Coded):
    """The terms of a run besides its budget: settings, role -> names of models, the tools and the policy.

    `executors` has the models that steps may name. `policy` has the whole policy, stored once for all runs under it,
    None if there is none, and `limits` repeats what it allows a run. Earlier releases kept it among the settings.
    `playbooks` are those that a planner may choose.
    """

    settings: Written[Mapping[str, Any]] = field(default_factory=dict)
    models: Written[Mapping[str, Any]] = field(default_factory=dict)
    executors: Mapping[str, Any] = field(default_factory=dict)
    tools: Content | None = None
    policy: Content | None = None
    playbooks: Content | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Coded`."""
        limits = raw.get("limits") or limits_of_a_run(raw.get("settings", {}).get("policy", {}))
        return super(Configuration, cls).from_json({**raw, "limits": limits})


NO_CONFIGURATION = Configuration()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class RunStarted(Payload):
    """A run started: its goal, and all inputs of its decisions; the ledger sets `thread` and `n`.

    `history` has the messages of the chat before the goal. `pictures` has type, size and digest of the pictures beside
    the goal, `attached` their bytes. `setup` is the data to resume the run elsewhere; it comes from the facade only if
    `setup_by` is `BY_FACADE`. `origin` is `BY_FACADE` or `ON_SERVER`; None if the graph was invoked otherwise, or by an
    earlier release. `invocation` is a graph server's id of the invocation, `started_by` the user who asked for it.
    `keeps_names`: refined steps keep the names that the model gave; earlier releases numbered them. `playbook` has
    name, version and digest of the playbook whose plan it runs, empty if it runs none.
    """

    goal: str
    constraints: Needed[tuple[str, ...]] = ()
    tags: tuple[str, ...] = ()
    wording: Shown[int] = 1
    history: tuple[Mapping[str, str], ...] = ()
    pictures: tuple[Mapping[str, Any], ...] = ()
    attached: Content | None = None
    setup: Mapping[str, Any] = field(default_factory=dict)
    setup_by: str | None = None
    origin: str | None = None
    configured: Configuration | None = None
    budget: Budget = NO_BUDGET
    invocation: str | None = None
    thread: Needed[str] = ""
    n: Needed[int] = 0
    started_by: str | None = None
    keeps_names: bool = False
    playbook: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Configured(Payload, is_aside=True):
    """The run continues under other terms: stricter ones, or those that `approver` took it over under.

    `budget` bounds the run's from now on, None if it stays. `setup` is that of the facade that took it over, in place
    of the one that `RunStarted` has. Earlier releases recorded any change, without an approver.
    """

    configuration: Inline[Configuration]
    budget: Budget | None = None
    approver: str | None = None
    roles: tuple[str, ...] = ()
    setup: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class OwnerReplaced(Payload, is_aside=True):
    """Another process continues the run: `process` had not released it, and `is_dead` if it was known to be dead.

    Otherwise it showed no sign of life for the time of a lease: it may only stand still, and go on later.
    """

    process: str
    is_dead: bool


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class TakeOverAsked(Payload, is_aside=True, must_last=True):
    """A person asked to take the run over under other terms, and others have to as well, as `missing` says.

    `terms` is the digest of those terms: who asks for the same counts together.
    """

    terms: str
    differs: str
    missing: str
    approver: str
    roles: Written[tuple[str, ...]] = ()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Paused(Payload):
    """The run was paused on request, interrupted by its user, or has used up a cap across runs.

    `due_at` is when that cap allows the next call, in Unix seconds, `by` is who asked.
    """

    reason: str
    due_at: Shown[float | None] = None
    by: str | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LeftPayload(Coded):
    """The digest of the payload that a redaction left for event `seq`."""

    seq: int
    digest: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ValueRedacted(Payload, kind="redacted", is_aside=True, must_last=True):
    """A value was removed from events of the run."""

    left: tuple[LeftPayload, ...]
    by: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class RunEnded(Payload, is_control=True, must_last=True):
    """The run ended: status, reason and answer.

    `read_as` has the normalizations of a planner's direct answer, `by` is who cancelled it.
    """

    status: EndStatus
    reason: str
    answer: Inline[Content] = NO_CONTENT
    read_as: tuple[str, ...] = ()
    by: str | None = None

    @property
    def is_cancelled(self) -> bool:
        """Whether the run was cancelled."""
        return (self.status, self.reason, self.answer) == ("cancelled", "cancelled", NO_CONTENT)


def cancelled(checkpoint: str | None = None, by: str | None = None) -> RunEnded:
    """Return the end of a run that a person cancelled."""
    return RunEnded(status="cancelled", reason="cancelled", by=by, checkpoint=checkpoint)
