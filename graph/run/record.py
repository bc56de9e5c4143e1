"""What is known of a run: what was planned, decided, started and finished."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from graph.run.budget import NO_BUDGET, Budget, Usage
from graph.run.labels import Label
from graph.run.results import StepResult


@dataclass(frozen=True)
class Approval:
    """A decision that lets a plan run: which digest, under which terms, by a `person`, `unseen`, or by the `policy`."""

    seq: int
    digest: str
    binding: str
    by: str
    approver: str = ""


@dataclass(frozen=True)
class Held:
    """A call that waits for a person to see its arguments; `labels` says which of them are untrusted, and why."""

    key: str
    step: str
    tool: str
    args: Mapping[str, JsonValue]
    labels: Mapping[str, Label]
    revision: int


@dataclass(frozen=True)
class Shortage:
    """A limit of the budget that was reached, and the steps that were left."""

    limit: str
    left: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """A review request that was shown; `skip` answers stored at its checkpoint were given before it."""

    number: int
    subject: str
    error: str | None
    issues: tuple[Mapping[str, Any], ...]
    checkpoint: str
    skip: int


@dataclass(frozen=True)
class Call:
    """A tool call: started, and what became of it; `item` counts from 0 where a step is done for each of a list.

    `unmet` says why its step failed although the call succeeded: its result does not meet the step's criteria.
    """

    key: str
    step: str
    tool: str
    args: Mapping[str, JsonValue]
    args_digest: str
    repeatable: bool
    revision: int
    number: int
    result: StepResult | None = None
    nothing_happened: bool = False
    settled: bool = False
    unmet: str | None = None
    item: int | None = None
    ended_seq: int | None = None

    @property
    def doubtful(self) -> bool:
        """Whether it may have had an effect that did not lead to what was wanted, as far as anybody knows."""
        done = self.result is not None and self.result.status == "succeeded" and self.unmet is None
        return not (self.repeatable or done or self.nothing_happened)

    @property
    def is_the_step(self) -> bool:
        """Whether its result is the step's."""
        return self.number == 0 and self.item is None


@dataclass
class RunRecord:
    """Everything the nodes need to know of a run; filled by `read_record` and `read_on`, else only read.

    `setup` is what the run needs to be resumed elsewhere. Only where `setup_by` is `BY_FACADE` the facade gave it;
    records of before the facade was told apart from clients have none, and the setup may be a client's.
    `steered` says what the user has changed since the last plan, `rounds` counts plans that were made step by step.
    `failed` counts how often a step was given up, and, where it is done for each of a list, an item of it.
    `latest` has the key of the last call that was begun, for each step, item and number of a call, `calls_of` the keys
    of all calls of a step. `replanner_is_due` says that the budget did not allow to ask it when it was due. `dropped`
    are failed steps that a revision dropped, `dropped_before` those that were when a plan was approved last. `reserved`
    is what was set aside for model calls of which no end is on record; it counts as spent. `unchecked` are results that
    still have to meet their step's criteria, `retries` counts how often this revision tried a step again.
    """

    thread: str = ""
    n: int = 0
    goal: str = ""
    constraints: tuple[str, ...] = ()
    setup: Mapping[str, Any] = field(default_factory=dict)
    setup_by: str | None = None
    history: tuple[Mapping[str, str], ...] = ()
    configuration: Mapping[str, Any] = field(default_factory=dict)
    budget: Budget = NO_BUDGET
    usage: Usage = field(default_factory=Usage)
    begun: set[str] = field(default_factory=set)
    shortage: Shortage | None = None
    replanner_is_due: bool = False
    held: dict[str, Held] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    labels: dict[str, Label] = field(default_factory=dict)
    tainted: set[str] = field(default_factory=set)
    failures: set[str] = field(default_factory=set)
    digests: list[str] = field(default_factory=list)
    stalled: str | None = None
    steered: str | None = None
    rounds: int = 0
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    seq: int = 0
    control_seq: int = 0
    revision: int = 0
    plan: Mapping[str, Any] | None = None
    digest: str | None = None
    binding: str | None = None
    dropped: tuple[str, ...] = ()
    dropped_before: tuple[str, ...] = ()
    approval: Approval | None = None
    request: Request | None = None
    requests: int = 0
    replans: int = 0
    feedback: list[str] = field(default_factory=list)
    awaits_plan: bool = True
    revised_at: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    approved_plan: Mapping[str, Any] | None = None
    decided_at: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    checkpoints: set[str] = field(default_factory=set)
    calls: dict[str, Call] = field(default_factory=dict)
    latest: dict[tuple[str, int | None, int], str] = field(default_factory=dict)
    same_calls: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    calls_of: dict[str, list[str]] = field(default_factory=dict)
    responses: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    reserved: dict[str, Mapping[str, float]] = field(default_factory=dict)
    results: dict[str, StepResult] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    result_revision: dict[str, int] = field(default_factory=dict)
    unchecked: dict[str, StepResult] = field(default_factory=dict)
    retries: Counter[str] = field(default_factory=Counter)
    failed: Counter[tuple[str, int | None]] = field(default_factory=Counter)
    last_decision_seq: int = 0
    ended: Mapping[str, Any] | None = None
    last_kind: str = ""
    started_at: float = 0.0
    updated_at: float = 0.0
    _counted: tuple[int, frozenset[str]] = field(default=(-1, frozenset()), compare=False, repr=False)

    @property
    def id(self) -> str:
        """The run's name: thread and number."""
        return run_name(self.thread, self.n)

    @property
    def status(self) -> str:
        """Where the run stands, as far as the ledger tells; who works on it now it cannot say."""
        if self.ended:
            return str(self.ended["status"])
        if self.request:
            return "waiting"
        return {"": "planning", "run_started": "planning", "paused": "paused"}.get(self.last_kind, "running")

    @property
    def succeeded(self) -> frozenset[str]:
        """Ids of the steps that succeeded; counted once for all that was read."""
        if self._counted[0] != self.seq:
            found = frozenset(step for step, result in self.results.items() if result.status == "succeeded")
            self._counted = (self.seq, found)
        return self._counted[1]

    @property
    def waiting_calls(self) -> list[Held]:
        """Calls of the plan in force that wait for a person to see their arguments."""
        if self.awaits_plan:
            return []
        return [
            held
            for held in self.held.values()
            if held.revision == self.revision and held.key not in self.seen and held.step not in self.succeeded
        ]

    @property
    def lacks_plan(self) -> bool:
        """Whether there is no plan to go on with, because the budget does not allow to ask for one."""
        return self.awaits_plan and self.shortage is not None

    def failed_in(self, step: str, revision: int) -> bool:
        """Whether the step failed under this revision, and so waits for another one."""
        failed = step in self.results and self.results[step].status == "failed"
        return failed and self.result_revision.get(step) == revision

    def begins_anew(self, step: str, item: int | None) -> int:
        """Return how often a model begins a step, or an item of it, anew after it had failed for good.

        It does not where a call of it had an effect, or may have had one: another conversation might have it again.
        """
        calls = (self.calls[key] for key in self.calls_of.get(step, ()))
        if any(call.item == item and not (call.repeatable or call.nothing_happened) for call in calls):
            return 0
        return self.failed[step, None] + (self.failed[step, item] if item is not None else 0)

    def doubt_about(self, tool: str, args_digest: str, revision: int, key: str) -> Call | None:
        """Return an earlier call that may have had the effect this call would have again, unless a person cleared it.

        Cleared means settled, or approved by a person in a plan that came after the doubt arose.
        """
        for call in (self.calls[other] for other in self.same_calls.get((tool, args_digest), ())):
            here = call.key == key or call.revision < revision
            if here and call.doubtful and not self._cleared(call):
                return call
        return None

    def finished_call(self, key: str, tool: str, args_digest: str) -> Call | None:
        """Return the call whose result may be reused: this one, or the same one that a person says happened.

        The latter counts in later revisions only: two steps of one plan that make the same call make two calls.
        """
        for other in (key, *self.same_calls.get((tool, args_digest), ())):
            call = self.calls.get(other)
            done = call is not None and call.result is not None and call.result.status == "succeeded"
            if call is not None and done and (other == key or (call.settled and call.revision < self.revision)):
                return call
        return None

    def _cleared(self, call: Call) -> bool:
        """Whether a person approved a plan after the doubt about this call arose."""
        if call.ended_seq is None or self.approval is None:
            return False
        return self.approval.by == "person" and self.approval.seq > call.ended_seq


def run_name(thread: str, n: int) -> str:
    """Return the name by which people and commands know a run."""
    return f"{thread}.{n}"
