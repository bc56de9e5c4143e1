"""What is known of a run: what was planned, decided, started and finished."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from graph.plan.issues import Issue
from graph.record.budget import NO_BUDGET, Budget, Usage
from graph.record.events import NO_CONFIGURATION, Configuration, Decided, PlanRevised, RunEnded
from graph.record.replacement import Replaced
from graph.record.results import StepResult
from graph.record.trust_label import TrustLabel


@dataclass(frozen=True)
class Approval:
    """A decision that lets a plan run: which digest, under which terms, by a `person`, `unseen`, or by the `policy`."""

    seq: int
    digest: str
    binding: str
    by: str
    approver: str = ""


@dataclass(frozen=True)
class HeldCall:
    """A call that waits for a person to see it.

    `labels` says which of its arguments are untrusted, and why, `before` names runs in which the same call happened.
    """

    key: str
    step: str
    tool: str
    args: Mapping[str, JsonValue]
    labels: Mapping[str, TrustLabel]
    revision: int
    before: tuple[str, ...] = ()


@dataclass(frozen=True)
class WaitingCall:
    """A call that waits until a person has settled the calls named by `keys`, which may have had its effect."""

    step: str
    keys: tuple[str, ...]
    revision: int


@dataclass(frozen=True)
class BudgetExhausted:
    """A limit of the budget that was reached, and the steps that were left."""

    limit: str
    left: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """A review request that was shown; `skip` answers stored at its checkpoint were given before it."""

    number: int
    subject: str
    error: str | None
    issues: tuple[Issue, ...]
    checkpoint: str
    skip: int


@dataclass(frozen=True)
class Call:
    """A tool call: started, and what became of it; `item` counts from 0 where a step is done for each of a list.

    `unmet` says why its step failed although the call succeeded: its result does not meet the step's criteria.
    `settled` says that a person knows that it happened, `run` names the run where it is another one of the thread.
    `begun_seq` and `ended_seq` are the numbers of its events, `args_artifact` holds arguments that are too large.
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
    begun_seq: int | None = None
    ended_seq: int | None = None
    args_artifact: str | None = None
    run: str = ""

    def ended(self, result: StepResult, seq: int, *, nothing_happened: bool) -> "Call":
        """Return the call with its outcome, which event `seq` tells."""
        # a long run has many calls: `replace` would take as long as all the rest of reading one
        return Call(**{**vars(self), "result": result, "ended_seq": seq, "nothing_happened": nothing_happened})

    @property
    def is_uncertain(self) -> bool:
        """Whether it may have had an effect that did not lead to what was wanted, as far as anybody knows."""
        done = self.result is not None and self.result.status == "succeeded" and self.unmet is None
        return not (self.repeatable or done or self.nothing_happened)

    @property
    def is_the_step(self) -> bool:
        """Whether its result is the step's."""
        return self.number == 0 and self.item is None


@dataclass
class RunState:
    """Everything the nodes need to know of a run; filled by `project` and `apply_events`, else only read.

    `setup` is what the run needs to be resumed elsewhere. Only where `setup_by` is `BY_FACADE` the facade gave it;
    records of before the facade was told apart from clients have none, and the setup may be a client's.
    `steered` says what the user has changed since the last plan, `rounds` counts plans that were made step by step.
    `failed` counts how often a step was given up, and, where it is done for each of a list, an item of it.
    `latest` has the key of the last call that was begun, for each step, item and number of a call, `calls_of` the keys
    of all calls of a step. `replanner_is_due` says that the budget did not allow to ask it when it was due. `replaced`
    are failed steps that revisions left out or changed, `replaced_before` those as a plan was approved last,
    `planned` the ids of all steps that were ever planned, `would_replace` sentences on files that the plan in force
    would replace. `reserved` is what was set aside for model calls of which no end is on record; it counts as spent.
    `unchecked` are results that still have to meet their step's criteria, `retries` counts how often this revision
    tried a step again. `uncertain` has, by its key, each call that waited for others to be settled, `elsewhere` calls
    of other runs among those.
    `decision_before_seq` is the number of the decision before the last, `issues` are those of the plan refused last.
    """

    thread: str = ""
    n: int = 0
    goal: str = ""
    constraints: tuple[str, ...] = ()
    setup: Mapping[str, Any] = field(default_factory=dict)
    setup_by: str | None = None
    history: tuple[Mapping[str, str], ...] = ()
    configuration: Configuration = NO_CONFIGURATION
    budget: Budget = NO_BUDGET
    usage: Usage = field(default_factory=Usage)
    begun: set[str] = field(default_factory=set)
    shortage: BudgetExhausted | None = None
    replanner_is_due: bool = False
    held: dict[str, HeldCall] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    labels: dict[str, TrustLabel] = field(default_factory=dict)
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
    planned: set[str] = field(default_factory=set)
    would_replace: tuple[str, ...] = ()
    replaced: tuple[Replaced, ...] = ()
    replaced_before: tuple[Replaced, ...] = ()
    approval: Approval | None = None
    request: Request | None = None
    requests: int = 0
    replans: int = 0
    feedback: list[str] = field(default_factory=list)
    awaits_plan: bool = True
    revised_at: dict[str, PlanRevised] = field(default_factory=dict)
    approved_plan: Mapping[str, Any] | None = None
    decided_at: dict[str, Decided] = field(default_factory=dict)
    checkpoints: set[str] = field(default_factory=set)
    calls: dict[str, Call] = field(default_factory=dict)
    latest: dict[tuple[str, int | None, int], str] = field(default_factory=dict)
    uncertain: dict[str, WaitingCall] = field(default_factory=dict)
    elsewhere: dict[str, Call] = field(default_factory=dict)
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
    decision_before_seq: int = 0
    issues: tuple[Issue, ...] = ()
    ended: RunEnded | None = None
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
            return self.ended.status
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
    def dropped(self) -> tuple[str, ...]:
        """Ids of the failed steps that nothing in the plan makes up for."""
        return tuple(dict.fromkeys(one.step for one in self.replaced if not one.is_made_up_for))

    @property
    def waiting_calls(self) -> list[HeldCall]:
        """Calls of the plan in force that wait for a person to see their arguments."""
        if self.awaits_plan:
            return []
        return [
            held
            for held in self.held.values()
            if held.revision == self.revision and held.key not in self.seen and held.step not in self.succeeded
        ]

    def call(self, key: str) -> Call | None:
        """Return a call of this run, or one of another run that a call of this one waited for."""
        return self.calls.get(key) or self.elsewhere.get(key)

    @property
    def uncertain_calls(self) -> dict[str, list[Call]]:
        """Step id -> calls that a person has to settle before the step goes on, for steps of the plan in force."""
        found: dict[str, list[Call]] = {}
        for waiting in self.uncertain.values():
            if waiting.revision == self.revision and waiting.step not in self.succeeded and not self.awaits_plan:
                calls = [call for call in map(self.call, waiting.keys) if call is not None and call.is_uncertain]
                found.setdefault(waiting.step, []).extend(calls)
        return {step: calls for step, calls in found.items() if calls}

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

    def finished_call(self, key: str) -> Call | None:
        """Return the call of this key if its result may be reused."""
        call = self.calls.get(key)
        done = call is not None and call.result is not None and call.result.status == "succeeded"
        return call if done else None


def run_name(thread: str, n: int) -> str:
    """Return the name by which people and commands know a run."""
    return f"{thread}.{n}"
