"""The story of a run, read from its events: what was planned, decided, started and finished."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import JsonValue

from graph.run.events import CONTROL, Event
from graph.run.results import StepResult


@dataclass(frozen=True)
class Approval:
    """A decision that lets a plan run: which digest, with which tools, by whom."""

    seq: int
    digest: str
    binding: str
    by: str


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
    """A tool call: started, and what became of it."""

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
    ended_seq: int | None = None

    @property
    def doubtful(self) -> bool:
        """Whether it may have had an effect that nobody knows the outcome of."""
        done = self.result is not None and self.result.status == "succeeded"
        return not (self.repeatable or done or self.nothing_happened)


@dataclass
class RunRecord:
    """Everything the nodes need to know of a run; filled by `read_record` and `read_on`, else only read."""

    thread: str = ""
    n: int = 0
    goal: str = ""
    constraints: tuple[str, ...] = ()
    setup: Mapping[str, Any] = field(default_factory=dict)
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
    same_calls: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    responses: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    results: dict[str, StepResult] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    result_revision: dict[str, int] = field(default_factory=dict)
    last_decision_seq: int = 0
    ended: Mapping[str, Any] | None = None
    last_kind: str = ""
    started_at: float = 0.0
    updated_at: float = 0.0

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
    def succeeded(self) -> set[str]:
        """Ids of the steps that succeeded."""
        return {step for step, result in self.results.items() if result.status == "succeeded"}

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
        record.last_kind = event.kind
        record.updated_at = event.at
        if event.kind in CONTROL:
            record.control_seq = event.seq
        if checkpoint := event.payload.get("checkpoint"):
            record.checkpoints.add(checkpoint)
        if reader := READERS.get(event.kind):
            reader(record, event)
    return record


def _run_started(record: RunRecord, event: Event) -> None:
    record.thread, record.n = event.payload["thread"], event.payload["n"]
    record.goal, record.constraints = event.payload["goal"], tuple(event.payload["constraints"])
    record.setup = event.payload.get("setup", {})
    record.started_at = event.at


def _plan_revised(record: RunRecord, event: Event) -> None:
    record.revision = event.payload["revision"]
    record.plan, record.digest = event.payload["plan"], event.payload["digest"]
    record.binding = event.payload.get("binding")
    record.dropped = (*record.dropped, *event.payload.get("dropped", ()))
    record.awaits_plan = False
    record.revised_at[event.payload.get("checkpoint", "")] = event.payload
    record.replans += event.payload["author"] == "replanner"


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
    if decided["decision"] == "approve":
        record.approval = Approval(event.seq, decided["digest"], decided["binding"], decided["by"])
        record.approved_plan = record.plan
    elif decided["decision"] == "feedback":
        record.feedback.append(decided["message"])
        record.awaits_plan = True
    for entry in decided.get("settled", ()):
        _settle(record, entry)


def _settle(record: RunRecord, entry: Mapping[str, Any]) -> None:
    """A person said whether a doubtful call happened: it did, with this result, or it did not and may be made."""
    call = record.calls[entry["key"]]
    if not entry["happened"]:
        record.calls[call.key] = replace(call, nothing_happened=True)
        return
    result = StepResult("succeeded", entry["result"])
    record.calls[call.key] = replace(call, result=result, settled=True)
    if call.number == 0:
        record.results[call.step] = result


def _call_started(record: RunRecord, event: Event) -> None:
    call = event.payload
    same = record.same_calls.setdefault((call["tool"], call["args_digest"]), [])
    if call["key"] not in same:
        same.append(call["key"])
    record.calls[call["key"]] = Call(
        key=call["key"],
        step=event.step or "",
        tool=call["tool"],
        args=call["args"],
        args_digest=call["args_digest"],
        repeatable=call["repeatable"],
        revision=call["revision"],
        number=call["call"],
    )


def _call_finished(record: RunRecord, event: Event) -> None:
    started = record.calls[event.payload["key"]]
    result = StepResult.of(event.payload)
    nothing = event.payload.get("nothing_happened", False)
    record.calls[started.key] = replace(started, result=result, ended_seq=event.seq, nothing_happened=nothing)
    if started.number == 0:
        record.results[started.step] = result
        record.result_revision[started.step] = started.revision


def _model_finished(record: RunRecord, event: Event) -> None:
    if "response" in event.payload:
        record.responses[event.payload["key"]] = event.payload["response"]


def _step_finished(record: RunRecord, event: Event) -> None:
    step = event.step or ""
    record.results[step] = StepResult.of(event.payload)
    record.inputs[step] = event.payload["inputs"]
    record.result_revision[step] = event.payload["revision"]


def _run_ended(record: RunRecord, event: Event) -> None:
    record.ended = event.payload
    record.request = None


READERS: Mapping[str, Callable[[RunRecord, Event], None]] = {
    "run_started": _run_started,
    "plan_revised": _plan_revised,
    "review_requested": _review_requested,
    "decided": _decided,
    "call_started": _call_started,
    "call_finished": _call_finished,
    "model_finished": _model_finished,
    "step_finished": _step_finished,
    "run_ended": _run_ended,
}
