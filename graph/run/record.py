"""The story of a run, read from its events: what was planned, decided, started and finished."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import JsonValue

from graph.plan.canonical import digest
from graph.run.budget import NO_BUDGET, Budget, Usage, read_budget
from graph.run.events import ASIDE, CONTROL, Event
from graph.run.labels import USER, Label
from graph.run.results import StepResult, StepStatus
from graph.run.steering import in_words

UNCHECKED = "its result has not been checked yet"


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

    `steered` says what the user has changed since the last plan, `rounds` counts plans that were made step by step.
    `latest` has the key of the last call that was begun, for each step, item and number of a call, `calls_of` the keys
    of all calls of a step. `unchecked` are results that still have to meet their step's criteria, `retries` counts how
    often this revision tried a step again.
    """

    thread: str = ""
    n: int = 0
    goal: str = ""
    constraints: tuple[str, ...] = ()
    setup: Mapping[str, Any] = field(default_factory=dict)
    history: tuple[Mapping[str, str], ...] = ()
    configuration: Mapping[str, Any] = field(default_factory=dict)
    budget: Budget = NO_BUDGET
    usage: Usage = field(default_factory=Usage)
    begun: set[str] = field(default_factory=set)
    shortage: Shortage | None = None
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
    results: dict[str, StepResult] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    result_revision: dict[str, int] = field(default_factory=dict)
    unchecked: dict[str, StepResult] = field(default_factory=dict)
    retries: Counter[str] = field(default_factory=Counter)
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


def read_record(events: Iterable[Event]) -> RunRecord:
    """Read a run's events, in order, into its record."""
    return read_on(RunRecord(), events)


def read_on(record: RunRecord, events: Iterable[Event]) -> RunRecord:
    """Read the events that follow those a record was read from into it, and return it."""
    for event in events:
        record.seq = event.seq
        record.last_kind = record.last_kind if event.kind in ASIDE else event.kind
        record.updated_at = event.at
        if event.kind in CONTROL:
            record.control_seq = event.seq
        if worked_s := event.payload.get("worked_s"):
            record.usage = replace(record.usage, wall_s=worked_s)
        if checkpoint := event.payload.get("checkpoint"):
            record.checkpoints.add(checkpoint)
        if reader := READERS.get(event.kind):
            reader(record, event)
    return record


def _run_started(record: RunRecord, event: Event) -> None:
    record.thread, record.n = event.payload["thread"], event.payload["n"]
    record.goal, record.constraints = event.payload["goal"], tuple(event.payload["constraints"])
    record.setup = event.payload.get("setup", {})
    record.history = tuple(event.payload.get("history", ()))
    record.configuration = event.payload.get("configured", {})
    record.budget = read_budget(event.payload.get("budget", {}))[0]
    record.started_at = event.at


def _configured(record: RunRecord, event: Event) -> None:
    record.configuration = event.payload


def _plan_revised(record: RunRecord, event: Event) -> None:
    record.revision = event.payload["revision"]
    record.plan, record.digest = event.payload["plan"], event.payload["digest"]
    record.binding = event.payload.get("binding")
    record.dropped = (*record.dropped, *event.payload.get("dropped", ()))
    record.awaits_plan = False
    record.retries = Counter()
    record.revised_at[event.payload.get("checkpoint", "")] = event.payload
    by_replanner = event.payload["author"] == "replanner" and event.payload.get("cause", "failure") == "failure"
    record.replans += by_replanner
    record.rounds += event.payload.get("cause") in ("step", "horizon")
    record.steered = None
    record.usage = record.usage.plus(replans=int(by_replanner))
    record.digests.append(event.payload["digest"])
    record.tainted = set(event.payload.get("tainted", ()))
    record.failures.update(event.payload.get("failures", ()))
    record.stalled = event.payload.get("stalled")


def _review_requested(record: RunRecord, event: Event) -> None:
    shown = event.payload
    record.requests = shown["request"]
    record.request = Request(
        number=shown["request"],
        subject=shown["subject"],
        error=shown["error"],
        issues=tuple(shown["issues"]),
        checkpoint=shown["checkpoint"],
        skip=shown["skip"],
    )


def _decided(record: RunRecord, event: Event) -> None:
    decided = event.payload
    record.request = None
    record.last_decision_seq = event.seq
    record.decided_at[decided["checkpoint"]] = decided
    record.seen.update(decided.get("steps", ()))
    record.shortage = None
    if (raised := decided.get("budget")) is not None:
        record.budget = read_budget(raised)[0]
    if decided["decision"] == "approve":
        approver = decided.get("approver", "")
        record.approval = Approval(event.seq, decided["digest"], decided["binding"], decided["by"], approver)
        record.approved_plan, record.stalled = record.plan, None
        if decided["by"] == "person":
            record.tainted = set()
    elif raised is not None and record.approval is not None:
        record.approval = replace(record.approval, binding=decided["binding"])
    if decided["decision"] == "feedback":
        record.feedback.append(decided["message"])
        record.awaits_plan = True
    for entry in decided.get("settled", ()):
        _settle(record, entry)
    for step, value in decided.get("given", {}).items():
        record.results[step] = StepResult("succeeded", value, started_at=event.at, ended_at=event.at)
        record.labels[step] = USER


def _steered(record: RunRecord, event: Event) -> None:
    said = event.payload
    record.constraints, record.request = tuple(said["constraints"]), None
    record.steered = in_words(said["added"], said["withdrawn"], said["feedback"])
    if said["feedback"]:
        record.feedback.append(said["feedback"])


def _settle(record: RunRecord, entry: Mapping[str, Any]) -> None:
    """A person said whether a doubtful call happened: it did, with this result, or it did not and may be made."""
    call = record.calls[entry["key"]]
    if not entry["happened"]:
        record.calls[call.key] = replace(call, nothing_happened=True)
        return
    result = StepResult("succeeded", entry["result"])
    record.calls[call.key] = replace(call, result=result, settled=True, unmet=None)
    if call.is_the_step:
        record.results[call.step] = record.unchecked[call.step] = result
        record.labels[call.step] = USER


def _call_started(record: RunRecord, event: Event) -> None:
    call = event.payload
    first = call["call"] == 0 and event.step not in record.begun
    record.begun.add(event.step or "")
    record.usage = record.usage.plus(tool_calls=1, steps=int(first), calls={call["tool"]: 1})
    args_digest = call["args_digest"] if "args_digest" in call else digest(call["args"])
    same = record.same_calls.setdefault((call["tool"], args_digest), [])
    if call["key"] not in same:
        same.append(call["key"])
    if call["key"] not in record.calls:
        record.calls_of.setdefault(event.step or "", []).append(call["key"])
    record.latest[event.step or "", call.get("item"), call["call"]] = call["key"]
    record.calls[call["key"]] = Call(
        key=call["key"],
        step=event.step or "",
        tool=call["tool"],
        args=call["args"],
        args_digest=args_digest,
        repeatable=call["repeatable"],
        revision=call["revision"],
        number=call["call"],
        item=call.get("item"),
    )


def _call_finished(record: RunRecord, event: Event) -> None:
    payload = event.payload
    started = record.calls[record.latest[event.step or "", payload.get("item"), payload["call"]]]
    result = StepResult.of(event.payload)
    nothing = event.payload.get("nothing_happened", False)
    record.calls[started.key] = replace(started, result=result, ended_seq=event.seq, nothing_happened=nothing)
    if started.is_the_step:
        _stand(record, event, started.revision)


def _step_held(record: RunRecord, event: Event) -> None:
    held = event.payload
    labels = {name: Label.of(label) for name, label in held["labels"].items()}
    key = held["key"]
    record.held[key] = Held(key, event.step or "", held["tool"], held["args"], labels, held["revision"])


def _call_refused(record: RunRecord, event: Event) -> None:
    record.refused.add(digest([event.step, dict(event.payload)]))


def _budget_reached(record: RunRecord, event: Event) -> None:
    record.shortage = Shortage(event.payload["limit"], tuple(event.payload["left"]))


def _model_started(record: RunRecord, event: Event) -> None:
    first = event.step is not None and event.step not in record.begun
    if event.step is not None:
        record.begun.add(event.step)
    record.usage = record.usage.plus(model_calls=1, steps=int(first))


def _model_finished(record: RunRecord, event: Event) -> None:
    used = event.payload.get("usage") or {}
    cost_usd = event.payload.get("cost_usd") or 0.0
    record.usage = record.usage.plus(tokens=used.get("total_tokens") or 0, cost_usd=cost_usd)
    if "response" in event.payload:
        record.responses[event.payload["key"]] = event.payload["response"]


def _step_finished(record: RunRecord, event: Event) -> None:
    step = event.step or ""
    _stand(record, event, event.payload["revision"])
    record.inputs[step] = event.payload["inputs"]
    record.missing[step] = tuple(event.payload.get("missing", ()))
    if label := event.payload.get("label"):
        record.labels[step] = Label.of(label)


def _stand(record: RunRecord, event: Event, revision: int) -> None:
    """Take what the work of a step came to for the step's result, or hold it until it has been checked."""
    step, result = event.step or "", StepResult.of(event.payload)
    record.result_revision[step] = revision
    record.unchecked.pop(step, None)
    if event.payload.get("unchecked"):
        record.unchecked[step] = result
        result = replace(result, status="interrupted", error=UNCHECKED)
    _take(record, step, result)


def _take(record: RunRecord, step: str, result: StepResult) -> None:
    """Take a result for the step's; where it succeeded, what its calls gave will do, whatever was said of it before."""
    record.results[step] = result
    if result.status == "succeeded":
        for call in [record.calls[key] for key in record.calls_of.get(step, ())]:
            if call.unmet is not None:
                record.calls[call.key] = replace(call, unmet=None)


def _step_checked(record: RunRecord, event: Event) -> None:
    """The result of a step meets its criteria or not; if not, what can be repeated may be, and nothing else."""
    step, told = event.step or "", event.payload
    result = record.unchecked.pop(step, None) or record.results.get(step) or StepResult("succeeded")
    record.result_revision[step] = told["revision"]
    if told["met"]:
        _take(record, step, result)
        return
    record.retries[step] += bool(told.get("again"))
    status: StepStatus = "interrupted" if told.get("again") else "failed"
    record.results[step] = StepResult(status, None, None, told["error"], result.started_at, result.ended_at)
    for call in [record.calls[key] for key in record.calls_of.get(step, ())]:
        if call.repeatable and call.number == 0:
            record.calls[call.key] = replace(call, result=None)
        elif not call.repeatable and not call.nothing_happened:
            record.calls[call.key] = replace(call, unmet=told["error"], ended_seq=event.seq)


def _run_ended(record: RunRecord, event: Event) -> None:
    record.ended = event.payload
    record.request = None


READERS: Mapping[str, Callable[[RunRecord, Event], None]] = {
    "run_started": _run_started,
    "configured": _configured,
    "plan_revised": _plan_revised,
    "review_requested": _review_requested,
    "decided": _decided,
    "steered": _steered,
    "call_started": _call_started,
    "call_finished": _call_finished,
    "step_held": _step_held,
    "call_refused": _call_refused,
    "budget_reached": _budget_reached,
    "model_started": _model_started,
    "model_finished": _model_finished,
    "step_finished": _step_finished,
    "step_checked": _step_checked,
    "run_ended": _run_ended,
}
