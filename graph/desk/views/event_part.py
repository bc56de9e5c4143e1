"""What an event is to a request to people, as the pages of the desk need it."""

from enum import Flag, auto
from typing import assert_never

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


class Part(Flag):
    """`ANSWERS`: after it no person is waited for. `FOLLOWS`: it follows from a decision. `LISTED`: the page about a
    closed request lists it.
    """

    NONE = 0
    ANSWERS = auto()
    FOLLOWS = auto()
    LISTED = auto()


def part_of_event(data: EventData | None) -> Part:
    """Return what an event is to a request; nothing if a newer release wrote it."""
    match data:
        case Decided() | Steered() | RunEnded():
            return Part.ANSWERS | Part.FOLLOWS | Part.LISTED
        case Voted() | LateAnswer() | RunReopened():
            return Part.FOLLOWS | Part.LISTED
        case ResponseGiven() | StepSkipped() | ResultSupplied() | ReviewExpired():
            return Part.ANSWERS | Part.LISTED
        case PlanRevised() | ReviewRequested() | ReviewEscalated():
            return Part.LISTED
        case Paused():
            return Part.FOLLOWS
        case (
            RunStarted() | Configured() | TakeOverAsked() | OwnerReplaced() | PlanRefused() | Executing()
            | CallStarted() | CallFinished() | CallAsked() | CallRefused() | StepHeld() | StepUncertain()
            | ModelStarted() | ModelFinished() | StepFinished() | StepChecked() | BudgetReached() | ValueRedacted()
            | ConditionEvaluated()
            | RunForked() | Inherited() | CallInherited() | StandingGiven() | StandingRevoked() | CapReached()
            | ReviewReminded() | CallPreviewed() | None
        ):  # fmt: skip
            return Part.NONE
        case _:
            assert_never(data)
