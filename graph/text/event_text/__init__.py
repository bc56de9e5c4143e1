"""The text of each event, in sentences for people.

One file for each family of events, as in `graph/record/events/`. A new kind gets a case here and in the file of
its family; mypy reports a missing one. An event of a newer release is shown by its name and its fields.
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
from planner_executor.graph.text.event_text.by_person import format_person
from planner_executor.graph.text.event_text.call import format_call
from planner_executor.graph.text.event_text.deadline import format_deadline
from planner_executor.graph.text.event_text.fork import format_fork
from planner_executor.graph.text.event_text.model import format_model
from planner_executor.graph.text.event_text.plan import format_plan, step_words
from planner_executor.graph.text.event_text.review import format_review
from planner_executor.graph.text.event_text.run import format_run
from planner_executor.graph.text.event_text.sections import SECTIONS, Formatted, Section, Words
from planner_executor.graph.text.event_text.standing import format_standing
from planner_executor.graph.text.event_text.step import format_step
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
    except UnknownEventError:
        sections, words = SECTIONS, _unknown(event)
    sentence, *details = (plain(line) for line in words)
    return EventText(sections, sentence, tuple(details))


def _formatted(data: EventData, step: str) -> Formatted:  # noqa: C901  (one line for each family of events)
    """Return the sections and the text of an event."""
    match data:
        case (
            RunStarted()
            | Configured()
            | OwnerReplaced()
            | TakeOverAsked()
            | Paused()
            | ValueRedacted()
            | RunEnded()
            | RunReopened()
        ):
            return format_run(data)
        case PlanRevised() | PlanRefused() | CallPreviewed() | Steered() | Executing():
            return format_plan(data)
        case ReviewRequested() | Decided() | Voted() | ResponseGiven():
            return format_review(data)
        case ReviewReminded() | ReviewEscalated() | ReviewExpired() | LateAnswer():
            return format_deadline(data)
        case CallStarted() | CallFinished() | CallAsked() | CallRefused() | StepHeld() | StepUncertain():
            return format_call(data, step)
        case StepFinished() | StepChecked() | ConditionEvaluated() | BudgetReached() | CapReached():
            return format_step(data, step)
        case ModelStarted() | ModelFinished():
            return format_model(data, step)
        case RunForked() | Inherited() | CallInherited():
            return format_fork(data, step)
        case StepSkipped() | ResultSupplied():
            return format_person(data, step)
        case StandingGiven() | StandingRevoked():
            return format_standing(data)
        case _:
            assert_never(data)


def event_line(event: Event) -> str:
    """Return an event as one numbered line."""
    return f"{event.seq:>4} {event_text(event).sentence}"


def _unknown(event: Event) -> Words:
    where = f" in {event.step}" if event.step else ""
    yield f"{event.kind}{where}: a kind of event that this version does not know"
    yield from (f"{name}: {value_text(value)}" for name, value in event.payload.items())
