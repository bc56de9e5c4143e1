"""The events of a run -> what is known of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from graph.plan.canonical import digest
from graph.record.amendment import amendment_words
from graph.record.artifacts import held_artifact
from graph.record.budget import read_budget
from graph.record.events import ASIDE, CONTROL, Event
from graph.record.other_runs import other_calls
from graph.record.replacement import Replaced
from graph.record.results import StepResult, StepStatus
from graph.record.run_state import Approval, BudgetExhausted, Call, HeldCall, Request, RunState, WaitingCall
from graph.record.trust_label import USER, TrustLabel

UNCHECKED = "its result has not been checked yet"


def project(events: Iterable[Event]) -> RunState:
    """Read a run's events, in order, into its record."""
    return apply_events(RunState(), events)


def apply_events(record: RunState, events: Iterable[Event]) -> RunState:
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
        if reader := APPLIERS.get(event.kind):
            reader(record, event)
    return record


def _run_started(record: RunState, event: Event) -> None:
    record.thread, record.n = event.payload["thread"], event.payload["n"]
    record.goal, record.constraints = event.payload["goal"], tuple(event.payload["constraints"])
    record.setup, record.setup_by = event.payload.get("setup") or {}, event.payload.get("setup_by")
    record.history = tuple(event.payload.get("history", ()))
    record.configuration = event.payload.get("configured", {})
    record.budget = read_budget(event.payload.get("budget", {}))[0]
    record.started_at = event.at


def _configured(record: RunState, event: Event) -> None:
    record.configuration = event.payload


def _plan_revised(record: RunState, event: Event) -> None:
    if event.payload.get("cause") == "refined":  # what failed elsewhere waits on for a revision that answers it
        failed = [step for step in record.results if record.failed_in(step, record.revision)]
        record.result_revision.update(dict.fromkeys(failed, event.payload["revision"]))
    record.revision = event.payload["revision"]
    record.plan, record.digest = event.payload["plan"], event.payload["digest"]
    record.binding = event.payload.get("binding")
    record.replaced = _replaced(record, event.payload)
    record.planned.update(step["id"] for step in event.payload["plan"].get("steps", ()))
    record.awaits_plan = record.replanner_is_due = False
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
    record.would_replace = tuple(event.payload.get("would_replace", ()))


def _replaced(record: RunState, payload: Mapping[str, Any]) -> tuple[Replaced, ...]:
    """Return what became of failed steps; the first version wrote down only those that were dropped."""
    if "replaced" in payload:
        return tuple(map(Replaced.of, payload["replaced"]))
    ran = {step["id"]: step for step in (record.approved_plan or {}).get("steps", ())}
    return (
        *record.replaced_before,
        *(Replaced(name, _tools(ran.get(name, {}))) for name in payload.get("dropped", ())),
    )


def _tools(step: Mapping[str, Any]) -> tuple[str, ...]:
    return (step["tool"],) if "tool" in step else tuple(step.get("tools", ()))


def _plan_refused(record: RunState, event: Event) -> None:
    record.issues = tuple(event.payload.get("issues", ()))


def _review_requested(record: RunState, event: Event) -> None:
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


def _decided(record: RunState, event: Event) -> None:
    decided = event.payload
    record.request = None
    record.decision_before_seq, record.last_decision_seq = record.last_decision_seq, event.seq
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
            record.replaced = tuple(one.approved() for one in record.replaced)
        record.replaced_before = record.replaced
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


def _steered(record: RunState, event: Event) -> None:
    said = event.payload
    record.constraints, record.request = tuple(said["constraints"]), None
    words = amendment_words(said["added"], said["withdrawn"], said["feedback"])
    record.steered = f"{record.steered}; {words}" if record.steered else words
    if said["feedback"]:
        record.feedback.append(said["feedback"])


def _settle(record: RunState, entry: Mapping[str, Any]) -> None:
    """A person said whether an uncertain call happened: it did, with this result, or it did not and may be made."""
    calls = record.elsewhere if "run" in entry else record.calls
    call = calls[entry["key"]]
    if not entry["happened"]:
        calls[call.key] = replace(call, nothing_happened=True)
        return
    result = StepResult("succeeded", entry["result"])
    calls[call.key] = replace(call, result=result, settled=True, unmet=None)
    if call.is_the_step and not call.run:
        record.replaced = _without(record.replaced, call)
        record.replaced_before = _without(record.replaced_before, call)
    if _is_the_step_now(record, call):
        record.results[call.step] = record.unchecked[call.step] = result
        record.labels[call.step] = USER


def _without(replaced: tuple[Replaced, ...], call: Call) -> tuple[Replaced, ...]:
    """Return the failed steps without the one that this call was: it happened, so nothing has to make up for it."""
    return tuple(one for one in replaced if (one.step, one.tools) != (call.step, (call.tool,)))


def _is_the_step_now(record: RunState, call: Call) -> bool:
    """Whether a settled call is the step of its id: a revision may have given the id to other work since."""
    if call.run or not call.is_the_step or record.latest.get((call.step, None, 0)) != call.key:
        return False
    steps = (record.plan or {}).get("steps", ())
    return all(step.get("tool") == call.tool for step in steps if step["id"] == call.step)


def _call_started(record: RunState, event: Event) -> None:
    call = event.payload
    first = call["call"] == 0 and event.step not in record.begun
    record.begun.add(event.step or "")
    record.usage = record.usage.plus(tool_calls=1, steps=int(first), calls={call["tool"]: 1})
    args_digest = call["args_digest"] if "args_digest" in call else digest(call["args"])
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
        begun_seq=event.seq,
        args_artifact=_args_artifact(call),
    )


def _args_artifact(payload: Mapping[str, Any]) -> str | None:
    artifact = held_artifact(payload, "args")
    return str(artifact["id"]) if artifact is not None else None


def _call_finished(record: RunState, event: Event) -> None:
    payload = event.payload
    started = record.calls[record.latest[event.step or "", payload.get("item"), payload["call"]]]
    result = StepResult.of(event.payload)
    nothing = event.payload.get("nothing_happened", False)
    record.calls[started.key] = replace(started, result=result, ended_seq=event.seq, nothing_happened=nothing)
    if started.is_the_step:
        _stand(record, event, started.revision)


def _step_held(record: RunState, event: Event) -> None:
    held = event.payload
    labels = {name: TrustLabel.of(label) for name, label in held["labels"].items()}
    key = held["key"]
    before = tuple(dict.fromkeys(call["run"] for call in held.get("before", ())))
    record.held[key] = HeldCall(key, event.step or "", held["tool"], held["args"], labels, held["revision"], before)


def _step_uncertain(record: RunState, event: Event) -> None:
    waiting = event.payload
    keys = tuple(call["key"] for call in waiting["calls"])
    record.uncertain[waiting["key"]] = WaitingCall(event.step or "", keys, waiting["revision"])
    for call in other_calls(event):
        known = record.elsewhere.get(call.key)
        if known is None or known.begun_seq != call.begun_seq:
            record.elsewhere[call.key] = call


def _call_refused(record: RunState, event: Event) -> None:
    record.refused.add(digest([event.step, dict(event.payload)]))


def _budget_reached(record: RunState, event: Event) -> None:
    record.shortage = BudgetExhausted(event.payload["limit"], tuple(event.payload["left"]))
    record.replanner_is_due = event.payload.get("by") == "replanner"


def _model_started(record: RunState, event: Event) -> None:
    first = event.step is not None and event.step not in record.begun
    if event.step is not None:
        record.begun.add(event.step)
    record.replanner_is_due = record.replanner_is_due and event.step is not None
    aside = record.reserved[event.payload["key"]] = event.payload.get("reserved", {})
    record.usage = record.usage.plus(model_calls=1, steps=int(first), **aside)


def _model_finished(record: RunState, event: Event) -> None:
    aside, used = record.reserved.pop(event.payload["key"], {}), event.payload.get("usage") or {}
    tokens, cost_usd = used.get("total_tokens") or 0, event.payload.get("cost_usd") or 0.0
    record.usage = record.usage.plus(
        tokens=tokens - aside.get("tokens", 0), cost_usd=cost_usd - aside.get("cost_usd", 0.0)
    )
    if "response" in event.payload:
        record.responses[event.payload["key"]] = event.payload["response"]


def _step_finished(record: RunState, event: Event) -> None:
    step = event.step or ""
    _stand(record, event, event.payload["revision"])
    record.inputs[step] = event.payload["inputs"]
    if event.payload["status"] == "failed":
        record.failed.update((step, item) for item in event.payload.get("items", (None,)))
    record.missing[step] = tuple(event.payload.get("missing", ()))
    if label := event.payload.get("label"):
        record.labels[step] = TrustLabel.of(label)


def _stand(record: RunState, event: Event, revision: int) -> None:
    """Take what the work of a step came to for the step's result, or hold it until it has been checked."""
    step, result = event.step or "", StepResult.of(event.payload)
    record.result_revision[step] = revision
    record.unchecked.pop(step, None)
    if event.payload.get("unchecked"):
        record.unchecked[step] = result
        result = replace(result, status="interrupted", error=UNCHECKED)
    _take(record, step, result)


def _take(record: RunState, step: str, result: StepResult) -> None:
    """Take a result for the step's; where it succeeded, what its calls gave will do, whatever was said of it before."""
    record.results[step] = result
    if result.status == "succeeded":
        for call in [record.calls[key] for key in record.calls_of.get(step, ())]:
            if call.unmet is not None:
                record.calls[call.key] = replace(call, unmet=None)


def _step_checked(record: RunState, event: Event) -> None:
    """The result of a step meets its criteria or not; if not, what can be repeated may be, and nothing else."""
    step, told = event.step or "", event.payload
    result = record.unchecked.pop(step, None) or record.results.get(step) or StepResult("succeeded")
    record.result_revision[step] = told["revision"]
    if told["met"]:
        _take(record, step, result)
        return
    record.retries[step] += bool(told.get("again"))
    record.failed[step, None] += not told.get("again")
    status: StepStatus = "interrupted" if told.get("again") else "failed"
    record.results[step] = StepResult(status, None, None, told["error"], result.started_at, result.ended_at)
    for call in [record.calls[key] for key in record.calls_of.get(step, ())]:
        if call.repeatable and call.number == 0:
            record.calls[call.key] = replace(call, result=None)
        elif not call.repeatable and not call.nothing_happened:
            record.calls[call.key] = replace(call, unmet=told["error"], ended_seq=event.seq)


def _run_ended(record: RunState, event: Event) -> None:
    record.ended = event.payload
    record.request = None


APPLIERS: Mapping[str, Callable[[RunState, Event], None]] = {
    "run_started": _run_started,
    "configured": _configured,
    "plan_revised": _plan_revised,
    "plan_refused": _plan_refused,
    "review_requested": _review_requested,
    "decided": _decided,
    "steered": _steered,
    "call_started": _call_started,
    "call_finished": _call_finished,
    "step_held": _step_held,
    "step_uncertain": _step_uncertain,
    "call_refused": _call_refused,
    "budget_reached": _budget_reached,
    "model_started": _model_started,
    "model_finished": _model_finished,
    "step_finished": _step_finished,
    "step_checked": _step_checked,
    "run_ended": _run_ended,
}
