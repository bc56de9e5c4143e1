"""The events of a run -> what is known of it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, assert_never

from graph.plan.canonical import digest
from graph.record.amendment import amendment_words
from graph.record.events import (
    BudgetReached,
    CallFinished,
    CallRefused,
    CallStarted,
    Configured,
    Decided,
    Event,
    EventData,
    Executing,
    ModelFinished,
    ModelStarted,
    Paused,
    PlanRefused,
    PlanRevised,
    ReviewRequested,
    RunEnded,
    RunStarted,
    SettledCall,
    Steered,
    StepChecked,
    StepFinished,
    StepHeld,
    StepUncertain,
    ValueRedacted,
)
from graph.record.other_runs import other_calls
from graph.record.replacement import Replaced
from graph.record.results import StepResult, StepStatus
from graph.record.run_state import Approval, BudgetExhausted, Call, HeldCall, Request, RunState, WaitingCall
from graph.record.trust_label import USER

UNCHECKED = "its result has not been checked yet"


def project(events: Iterable[Event]) -> RunState:
    """Read a run's events, in order, into its record.

    Raises:
        UnknownEventError: A newer release wrote one of them.
    """
    return apply_events(RunState(), events)


def known(events: Iterable[Event]) -> list[Event]:
    """Return the events that this release can read: enough to look at a run, never to work on it."""
    return [event for event in events if event.data_if_known is not None]


def apply_events(record: RunState, events: Iterable[Event]) -> RunState:
    """Read the events that follow those a record was read from into it, and return it.

    Raises:
        UnknownEventError: A newer release wrote one of them.
    """
    for event in events:
        data = event.data
        record.seq = event.seq
        record.updated_at = event.at
        if not data.is_aside:
            record.last_kind = event.kind
        if data.is_control:
            record.control_seq = event.seq
        if data.checkpoint:
            record.checkpoints.add(data.checkpoint)
        _apply(record, event, data)
    return record


def _apply(record: RunState, event: Event, data: EventData) -> None:  # noqa: C901, PLR0912  (one line for each kind)
    match data:  # those first of which a run has most
        case CallStarted():
            _call_started(record, event, data)
        case CallFinished():
            _call_finished(record, event, data)
        case ModelStarted():
            _model_started(record, event, data)
        case ModelFinished():
            _model_finished(record, data)
        case StepFinished():
            _step_finished(record, event, data)
        case StepChecked():
            _step_checked(record, event, data)
        case RunStarted():
            _run_started(record, event, data)
        case Configured():
            record.configuration = data.configuration
        case PlanRevised():
            _plan_revised(record, data)
        case PlanRefused():
            record.issues = data.issues
        case ReviewRequested():
            _review_requested(record, data)
        case Decided():
            _decided(record, event, data)
        case Steered():
            _steered(record, data)
        case StepHeld():
            _step_held(record, event, data)
        case StepUncertain():
            _step_uncertain(record, event, data)
        case CallRefused():
            record.refused.add(refusal_digest(event.step, data))
        case BudgetReached():
            record.shortage = BudgetExhausted(data.limit, data.left)
            record.replanner_is_due = data.by == "replanner"
        case RunEnded():
            record.ended, record.request = data, None
        case Executing() | Paused() | ValueRedacted():
            pass
        case _:
            assert_never(data)


def refusal_digest(step: str | None, refused: CallRefused) -> str:
    """Return what tells refusals apart, wherever they were written."""
    return digest([step, replace(refused, checkpoint=None).to_json()])


def _run_started(record: RunState, event: Event, data: RunStarted) -> None:
    record.thread, record.n = data.thread, data.n
    record.goal, record.constraints = data.goal, data.constraints
    record.setup, record.setup_by = data.setup, data.setup_by
    record.history = data.history
    record.configuration = data.configured or record.configuration
    record.budget = data.budget
    record.started_at = event.at


def _plan_revised(record: RunState, data: PlanRevised) -> None:
    if data.cause == "refined":  # what failed elsewhere waits on for a revision that answers it
        failed = [step for step in record.results if record.failed_in(step, record.revision)]
        record.result_revision.update(dict.fromkeys(failed, data.revision))
    record.revision = data.revision
    record.plan, record.digest, record.binding = data.plan, data.digest, data.binding
    record.replaced = _replaced(record, data)
    record.planned.update(step["id"] for step in data.plan.get("steps", ()))
    record.awaits_plan = record.replanner_is_due = False
    record.retries = Counter()
    record.revised_at[data.checkpoint or ""] = data
    record.replans += data.answers_failure
    record.rounds += data.cause in ("step", "horizon")
    record.steered = None
    record.usage = record.usage.plus(replans=int(data.answers_failure))
    record.digests.append(data.digest)
    record.tainted = set(data.tainted)
    record.failures.update(data.failures)
    record.stalled = data.stalled
    record.would_replace = data.would_replace


def _replaced(record: RunState, data: PlanRevised) -> tuple[Replaced, ...]:
    """Return what became of failed steps; the first version wrote down only those that were dropped."""
    if data.replaced is not None:
        return data.replaced
    ran = {step["id"]: step for step in (record.approved_plan or {}).get("steps", ())}
    return (*record.replaced_before, *(Replaced(name, _tools(ran.get(name, {}))) for name in data.dropped))


def _tools(step: Mapping[str, Any]) -> tuple[str, ...]:
    return (step["tool"],) if "tool" in step else tuple(step.get("tools", ()))


def _review_requested(record: RunState, data: ReviewRequested) -> None:
    record.requests = data.request
    checkpoint = data.checkpoint or ""
    record.request = Request(data.request, data.subject, data.error, data.issues, checkpoint, data.skip)


def _decided(record: RunState, event: Event, data: Decided) -> None:
    record.request = None
    record.decision_before_seq, record.last_decision_seq = record.last_decision_seq, event.seq
    record.decided_at[data.checkpoint or ""] = data
    record.seen.update(data.steps)
    record.shortage = None
    if data.budget is not None:
        record.budget = data.budget
    if data.decision == "approve":
        _approved(record, event, data)
    elif data.budget is not None and record.approval is not None:
        record.approval = replace(record.approval, binding=data.binding or "")
    if data.decision == "feedback":
        record.feedback.append(data.message or "")
        record.awaits_plan = True
    for call in data.settled:
        _settle(record, call)
    for step, value in data.given.items():
        record.results[step] = StepResult("succeeded", value, started_at=event.at, ended_at=event.at)
        record.labels[step] = USER


def _approved(record: RunState, event: Event, data: Decided) -> None:
    record.approval = Approval(event.seq, data.digest or "", data.binding or "", data.by, data.approver)
    record.approved_plan, record.stalled = record.plan, None
    if data.by == "person":
        record.tainted = set()
        record.replaced = tuple(one.approved() for one in record.replaced)
    record.replaced_before = record.replaced


def _steered(record: RunState, data: Steered) -> None:
    record.constraints, record.request = data.constraints, None
    words = amendment_words(data.added, data.withdrawn, data.feedback)
    record.steered = f"{record.steered}; {words}" if record.steered else words
    if data.feedback:
        record.feedback.append(data.feedback)


def _settle(record: RunState, said: SettledCall) -> None:
    """A person said whether an uncertain call happened: it did, with this result, or it did not and may be made."""
    calls = record.elsewhere if said.run is not None else record.calls
    call = calls[said.key]
    if not said.happened:
        calls[call.key] = replace(call, nothing_happened=True)
        return
    result = StepResult("succeeded", said.result)
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


def _call_started(record: RunState, event: Event, data: CallStarted) -> None:
    step = event.step or ""
    first = data.call == 0 and event.step not in record.begun
    record.begun.add(step)
    record.usage = record.usage.plus(tool_calls=1, steps=int(first), calls={data.tool: 1})
    if data.key not in record.calls:
        record.calls_of.setdefault(step, []).append(data.key)
    record.latest[step, data.item, data.call] = data.key
    record.calls[data.key] = Call(
        key=data.key,
        step=step,
        tool=data.tool,
        args=data.args.shown,
        args_digest=data.args.digest,
        repeatable=data.repeatable,
        revision=data.revision,
        number=data.call,
        item=data.item,
        begun_seq=event.seq,
        args_artifact=data.args.artifact_id,
    )


def _call_finished(record: RunState, event: Event, data: CallFinished) -> None:
    _worked(record, data.worked_s)
    started = record.calls[record.latest[event.step or "", data.item, data.call]]
    nothing = data.nothing_happened
    record.calls[started.key] = started.ended(data.result, event.seq, nothing_happened=nothing)
    if started.is_the_step:
        _stand(record, event.step or "", data, started.revision)


def _worked(record: RunState, worked_s: float | None) -> None:
    if worked_s:
        record.usage = replace(record.usage, wall_s=worked_s)


def _step_held(record: RunState, event: Event, data: StepHeld) -> None:
    before = tuple(dict.fromkeys(call.run for call in data.before if call.run is not None))
    held = HeldCall(data.key, event.step or "", data.tool, data.args.shown, data.labels, data.revision, before)
    record.held[data.key] = held


def _step_uncertain(record: RunState, event: Event, data: StepUncertain) -> None:
    keys = tuple(call.key for call in data.calls)
    record.uncertain[data.key] = WaitingCall(event.step or "", keys, data.revision)
    for call in other_calls(data):
        before = record.elsewhere.get(call.key)
        if before is None or before.begun_seq != call.begun_seq:
            record.elsewhere[call.key] = call


def _model_started(record: RunState, event: Event, data: ModelStarted) -> None:
    first = event.step is not None and event.step not in record.begun
    if event.step is not None:
        record.begun.add(event.step)
    record.replanner_is_due = record.replanner_is_due and event.step is not None
    record.reserved[data.key] = data.reserved
    tokens, cost_usd = data.reserved.get("tokens", 0), data.reserved.get("cost_usd", 0.0)
    record.usage = record.usage.plus(model_calls=1, steps=int(first), tokens=tokens, cost_usd=cost_usd)


def _model_finished(record: RunState, data: ModelFinished) -> None:
    _worked(record, data.worked_s)
    aside = record.reserved.pop(data.key, {})
    tokens = data.usage.total_tokens if data.usage is not None else 0
    record.usage = record.usage.plus(
        tokens=tokens - aside.get("tokens", 0), cost_usd=(data.cost_usd or 0.0) - aside.get("cost_usd", 0.0)
    )
    if data.response is not None:
        record.responses[data.key] = data.response


def _step_finished(record: RunState, event: Event, data: StepFinished) -> None:
    step = event.step or ""
    _stand(record, step, data, data.revision)
    record.inputs[step] = data.inputs
    if data.result.status == "failed":
        record.failed.update((step, item) for item in data.items or (None,))
    record.missing[step] = data.missing
    if data.label is not None:
        record.labels[step] = data.label


def _stand(record: RunState, step: str, data: CallFinished | StepFinished, revision: int) -> None:
    """Take what the work of a step came to for the step's result, or hold it until it has been checked."""
    result = data.result
    record.result_revision[step] = revision
    record.unchecked.pop(step, None)
    if data.unchecked:
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


def _step_checked(record: RunState, event: Event, data: StepChecked) -> None:
    """The result of a step meets its criteria or not; if not, what can be repeated may be, and nothing else."""
    step = event.step or ""
    result = record.unchecked.pop(step, None) or record.results.get(step) or StepResult("succeeded")
    record.result_revision[step] = data.revision
    if data.met:
        _take(record, step, result)
        return
    record.retries[step] += data.again
    record.failed[step, None] += not data.again
    status: StepStatus = "interrupted" if data.again else "failed"
    record.results[step] = StepResult(status, None, None, data.error, result.started_at, result.ended_at)
    for call in [record.calls[key] for key in record.calls_of.get(step, ())]:
        if call.repeatable and call.number == 0:
            record.calls[call.key] = replace(call, result=None)
        elif not call.repeatable and not call.nothing_happened:
            record.calls[call.key] = replace(call, unmet=data.error, ended_seq=event.seq)
