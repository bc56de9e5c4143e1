"""Projection of a run's events to its state."""

from collections.abc import Iterable
from typing import assert_never

from planner_executor.graph.record.events import (
    ASIDE,
    WITHOUT_ANSWER,
    BudgetReached,
    CallAsked,
    CallFinished,
    CallInherited,
    CallPreviewed,
    CallRefused,
    CallStarted,
    CapReached,
    ConditionEvaluated,
    Configured,
    Decided,
    Event,
    EventData,
    Executing,
    Inherited,
    LateAnswer,
    ModelFinished,
    ModelStarted,
    OwnerReplaced,
    Paused,
    PlanRefused,
    PlanRevised,
    ResponseGiven,
    ResultSupplied,
    ReviewEscalated,
    ReviewExpired,
    ReviewReminded,
    ReviewRequested,
    RunEnded,
    RunForked,
    RunReopened,
    RunStarted,
    SettledCall,
    StandingGiven,
    StandingRevoked,
    Steered,
    StepChecked,
    StepFinished,
    StepHeld,
    StepSkipped,
    StepUncertain,
    TakeOverAsked,
    ValueRedacted,
    Voted,
)
from planner_executor.graph.record.other_runs import other_calls
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.said import Said
from planner_executor.graph.record.values_of_people import limit_raised, plan_given, value_supplied, values_of_decision


def project(events: Iterable[Event]) -> RunState:
    """Return the state of a run from its events, in order.

    Raises:
        UnknownEventError: A newer release wrote one of them.
    """
    return apply_events(RunState(), events)


def known(events: Iterable[Event]) -> list[Event]:
    """Return the events that this release can read: enough to show a run, not to execute it."""
    return [event for event in events if event.data_if_known is not None]


def apply_events(record: RunState, events: Iterable[Event]) -> RunState:
    """Apply later events to a run's state, and return it.

    Raises:
        UnknownEventError: A newer release wrote one of them.
    """
    for event in events:
        data = event.data
        pass_over(record, event)
        if data.is_control:
            record.control_seq = event.seq
        # After a crash a node finds its own checkpoint here, and in a fork it does not (decision 3).
        if data.checkpoint:
            record.checkpoints.add(data.checkpoint)
        _apply(record, event, data)
    return record


def pass_over(record: RunState, event: Event) -> None:
    """Note that a run has this event, also one that cannot be read."""
    record.seq, record.updated_at = event.seq, event.at
    if event.kind not in ASIDE:
        record.last_kind = event.kind


def _apply(record: RunState, event: Event, data: EventData) -> None:  # noqa: C901, PLR0912, PLR0915  (a case for each kind)
    """Apply an event to the values that it changes; functions below handle events that change several values."""
    step = event.step or ""
    match data:  # those first of which a run has most
        case CallStarted():
            record.calls.call_started(event, data, record.plan_state.reopened)
            if data.previewed is not None:
                record.review_state.previews.made([data.previewed])
            if data.approval is not None:
                record.standing.used(data.approval, data.key)
            record.spending.call_started(event, data)
            record.steps.begun(event.step)
        case CallFinished():
            _call_finished(record, event, data)
        case CallAsked():
            record.spending.worked(data.worked_s)
            record.spending.passed(event.at - record.started_at)
            record.calls.call_asked(data, record.plan_state.pass_of(data.revision))
        case ModelStarted():
            record.calls.model_started(event.step, data)
            record.spending.model_started(event, data)
            record.steps.begun(event.step)
        case ModelFinished():
            record.calls.model_finished(data)
            record.spending.model_finished(data)
            record.spending.passed(event.at - record.started_at)
        case StepFinished():
            _step_finished(record, step, data)
        case StepChecked():
            _step_checked(record, step, data)
        case ConditionEvaluated():
            record.steps.condition_evaluated(step, data)
        case RunStarted():
            _run_started(record, event, data)
        case Configured():
            record.assignment = record.assignment.configured(data)
            record.spending.configured(data)
        case TakeOverAsked():
            record.assignment = record.assignment.take_over_asked(data)
        case PlanRevised():
            _plan_revised(record, event, data)
        case PlanRefused():
            record.plan_state.plan_refused(data)
        case ReviewRequested():
            askers = (*record.people.askers, *data.askers)
            record.review_state.review_requested(data, record.plan_state.plan, event.at, askers)
            record.plan_state.review_requested(data)
        case Decided():
            _decided(record, event, data)
        case Steered():
            _steered(record, data)
        case StepHeld():
            record.review_state.step_held(event, data, record.plan_state.pass_of(data.revision))
        case StepUncertain():
            record.review_state.step_uncertain(event, data, record.plan_state.pass_of(data.revision))
            record.calls.found_elsewhere(other_calls(data))
        case CallRefused():
            record.review_state.call_refused(event, data)
        case CallPreviewed():
            record.review_state.previews.made(data.previews)
        case BudgetReached():
            record.spending.budget_reached(data)
            record.spending.passed(event.at - record.started_at)
        case RunEnded():
            record.ended = data
            record.close_review()
        case RunForked():
            record.assignment = record.assignment.run_forked(data)
            record.plan_state.run_forked(data)
            record.people.forked(event.seq, data)
        case Inherited():
            record.steps.inherited(step, data)
        case CallInherited():
            record.calls.call_inherited(step, data)
        case StepSkipped():
            record.steps.step_skipped(step, data)
            record.close_review()
        case ResultSupplied():
            record.people.gave(*value_supplied(record, event, data))
            record.steps.result_supplied(event, data, record.plan_state.plan)
            record.close_review()
        case RunReopened():
            _run_reopened(record, event, data)
        case StandingGiven():
            record.standing.given(data.approval)
        case StandingRevoked():
            record.standing.revoked(data.id, data.approver)
        case Voted():
            record.people.voted(data)
        case ResponseGiven():
            record.review_state.response = data
            record.people.has_acted(data.approver)
        case ReviewReminded() | ReviewEscalated():
            record.review_state.fell_due(data, event.at)
        case ReviewExpired():
            record.review_state.expired(data, record.plan_state.current_pass)
            record.people.closed()
        case LateAnswer():
            record.review_state.answered_late(data)
        case OwnerReplaced():
            record.calls.owner_replaced(data)
        case Paused():
            record.paused = data
        case Executing() | ValueRedacted() | CapReached():
            pass
        case _:
            assert_never(data)


def _run_started(record: RunState, event: Event, data: RunStarted) -> None:
    record.started_at = event.at
    record.assignment = record.assignment.run_started(data)
    record.spending.run_started(data)
    record.people.asked(data.started_by)


def _run_reopened(record: RunState, event: Event, data: RunReopened) -> None:
    if data.budget is not None:
        record.people.gave(*limit_raised(record, event, data))
    record.ended = None
    record.assignment = record.assignment.run_reopened(data)
    record.plan_state.run_reopened()
    record.review_state.run_reopened(data)
    record.steps.run_reopened(data)
    record.people.asked(data.approver)
    record.standing.end("the run was retried")
    record.spending.decided(data)


def _plan_revised(record: RunState, event: Event, data: PlanRevised) -> None:
    # First, while the pass is still that of the plan which is replaced.
    record.steps.plan_revised(data, before=record.plan_state.current_pass)
    record.plan_state.plan_revised(data)
    record.review_state.previews.made(data.previews)
    if data.written_by is not None:
        record.people.asked(data.written_by)
        # A first plan stands in place of no other one: who wrote it has asked for the run, and that is all.
        if data.revision > 1:
            record.people.gave(*plan_given(event, data, data.written_by))
    if data.author in ("person", "state"):
        record.standing.end("the plan was edited")
    record.spending.plan_revised(data)


def _steered(record: RunState, data: Steered) -> None:
    record.assignment = record.assignment.steered(data)
    record.plan_state.amended(data)
    record.spending.steered()
    record.people.asked(data.approver)
    record.people.has_acted(data.approver)
    record.close_review()


def _decided(record: RunState, event: Event, data: Decided) -> None:
    request = record.review_state.request
    takes = request.shown.takes if request is not None else None
    # Of the first approval: a run is held to what was said before anything was spent.
    if record.said is None and takes is not None and data.decision == "approve":
        record.said = Said(takes, record.spending.total, frozenset(record.steps.succeeded))
    # Before the request is closed: what people gave is told from what it held.
    for name, gave in values_of_decision(record, event, data):
        record.people.gave(name, gave)
    record.review_state.decided(event, data, record.plan_state.current_pass, record.plan_state.plan)
    record.plan_state.decided(data)
    record.people.decided(data)
    if data.by not in WITHOUT_ANSWER:
        record.people.has_acted(data.approver)
    if data.standing is not None:
        record.standing.used(data.standing, record.id)
    record.spending.decided(data)
    for settled in data.settled:
        _settle(record, settled)
    for key, forms in data.replies.items():
        record.calls.replied(key, forms)
    for step, value in data.given.items():
        record.steps.given(step, value, event.at)


def _settle(record: RunState, settled: SettledCall) -> None:
    """Settle an uncertain call; if it happened, its result is the step's, unless the step now has other work."""
    call = record.calls.settled(settled)
    if not settled.happened or call.result is None:
        return
    if call.is_the_step and not call.run:
        record.plan_state.call_happened(call)
    if record.calls.is_latest(call) and record.plan_state.may_call(call.step, call.tool):
        record.steps.settled(call.step, call.result)


def _call_finished(record: RunState, event: Event, data: CallFinished) -> None:
    record.spending.worked(data.worked_s)
    record.spending.passed(event.at - record.started_at)
    call = record.calls.call_finished(event, data)
    if call.is_the_step and record.steps.work_finished(call.step, data, call.within):
        record.calls.criteria_met(call.step)


def _step_finished(record: RunState, step: str, data: StepFinished) -> None:
    if record.steps.step_finished(step, data, record.plan_state.pass_of(data.revision)):
        record.calls.criteria_met(step)


def _step_checked(record: RunState, step: str, data: StepChecked) -> None:
    if record.steps.step_checked(step, data, record.plan_state.pass_of(data.revision)):
        record.calls.criteria_met(step)
    if not data.met:
        record.calls.criteria_unmet(step, data.error)
