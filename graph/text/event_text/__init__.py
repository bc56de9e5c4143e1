"""The text of each event, in sentences for people.

One file for each family of events, as in `graph/record/events/`. A new kind gets a case here and a function
in the file of its family; mypy reports a missing one. An event of a newer release is shown by its name and its fields.
"""

from typing import NamedTuple, assert_never

from planner_executor.graph.errors import UnknownEventError
from planner_executor.graph.record.events import (
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
from planner_executor.graph.text.drawing.labels import plain
from planner_executor.graph.text.event_text import by_person, call, fork, model, plan, review, run, standing, step
from planner_executor.graph.text.event_text.deadline import deadline_words
from planner_executor.graph.text.event_text.plan import step_words
from planner_executor.graph.text.event_text.sections import SECTIONS, Formatted, Section, Words
from planner_executor.graph.text.event_text.values import value_text

__all__ = ["SECTIONS", "EventText", "Section", "event_line", "event_text", "step_words"]


class EventText(NamedTuple):
    """The text of an event: a sentence, lines of detail, and the sections of the audit that it belongs to."""

    sections: tuple[Section, ...]
    sentence: str
    details: tuple[str, ...] = ()


def event_text(event: Event) -> EventText:
    """Return the text of an event, with invisible characters escaped."""
    try:
        sections, words = _formatted(event.data, event.step or "")
    # Nobody here knows what it is about, so no choice of sections leaves it out.
    except UnknownEventError:
        sections, words = SECTIONS, _unknown(event)
    # For all kinds at this one place: a line break in words from outside would begin an event that never was.
    sentence, *details = (plain(line) for line in words)
    return EventText(sections, sentence, tuple(details))


def _formatted(data: EventData, of_step: str) -> Formatted:  # noqa: C901, PLR0912  (a row for each kind of event)
    match data:
        case RunStarted():
            return SECTIONS, run.run_started(data)
        case Configured():
            return ("run", "policy"), run.configured(data)
        case OwnerReplaced():
            return ("run",), run.owner_replaced(data)
        case TakeOverAsked():
            return ("run", "policy", "decisions"), run.take_over_asked(data)
        case Paused():
            return ("run",), run.paused(data)
        case ValueRedacted():
            return SECTIONS, run.value_redacted(data)
        case RunEnded():
            return SECTIONS, run.run_ended(data)
        case RunReopened():
            return ("run", "steps", "decisions", "budget"), run.run_reopened(data)
        case PlanRevised():
            return ("plans",), plan.plan_revised(data)
        case PlanRefused():
            return ("plans",), plan.plan_refused(data)
        case CallPreviewed():
            return ("plans",), plan.call_previewed(data)
        case Steered():
            return ("plans", "decisions"), plan.steered(data)
        case Executing():
            return ("steps",), plan.executing(data)
        case ReviewRequested():
            return ("decisions",), review.review_requested(data)
        case Decided():
            return ("decisions", "policy", "budget"), review.decided(data)
        case Voted():
            return ("decisions",), review.voted(data)
        case ResponseGiven():
            return ("decisions",), review.response_given(data)
        case ReviewReminded() | ReviewEscalated() | ReviewExpired() | LateAnswer():
            return ("decisions",), deadline_words(data)
        case CallStarted():
            return ("steps",), call.call_started(of_step, data)
        case CallFinished():
            return ("steps",), call.call_finished(of_step, data)
        case CallAsked():
            return ("steps", "decisions"), call.call_asked(of_step, data)
        case CallRefused():
            return ("steps", "policy"), call.call_refused(of_step, data)
        case StepHeld():
            return ("steps", "policy"), call.step_held(of_step, data)
        case StepUncertain():
            return ("steps", "decisions"), call.step_uncertain(of_step, data)
        case StepFinished():
            return ("steps",), step.step_finished(of_step, data)
        case StepChecked():
            return ("steps",), step.step_checked(of_step, data)
        case ConditionEvaluated():
            return ("steps",), step.condition_evaluated(of_step, data)
        case BudgetReached():
            return ("budget",), step.budget_reached(data)
        case CapReached():
            return ("budget",), step.cap_reached(of_step, data)
        case ModelStarted():
            return ("plans", "steps"), model.model_started(of_step, data)
        case ModelFinished():
            return ("plans", "steps", "budget"), model.model_finished(of_step, data)
        case RunForked():
            return SECTIONS, fork.run_forked(data)
        case Inherited():
            return ("steps",), fork.inherited(of_step, data)
        case CallInherited():
            return ("steps", "decisions"), fork.call_inherited(of_step, data)
        case StepSkipped():
            return ("plans", "steps", "decisions"), by_person.step_skipped(of_step, data)
        case ResultSupplied():
            return ("steps", "decisions"), by_person.result_supplied(of_step, data)
        case StandingGiven():
            return ("decisions", "policy"), standing.standing_given(data)
        case StandingRevoked():
            return ("decisions", "policy"), standing.standing_revoked(data)
        case _:
            assert_never(data)


def event_line(event: Event) -> str:
    """Return an event as one numbered line."""
    return f"{event.seq:>4} {event_text(event).sentence}"


def _unknown(event: Event) -> Words:
    where = f" in {event.step}" if event.step else ""
    yield f"{event.kind}{where}: a kind of event that this version does not know"
    yield from (f"{name}: {value_text(value)}" for name, value in event.payload.items())
