"""The passes over a plan in a record, and the calls in it with their outcomes."""

from collections.abc import Sequence
from typing import Any, assert_never

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


def barriers(events: Sequence[Event]) -> list[int]:
    """Return for each place the next one whose event belongs to no step."""
    found, barrier = [len(events)] * len(events), len(events)
    for place in reversed(range(len(events))):
        event = events[place]
        if event.step is None or not is_of_step(event.data_if_known):
            barrier = place
        found[place] = barrier
    return found


def outcomes(events: Sequence[Event]) -> dict[int, int]:
    """Return the place of a call's beginning -> the place of its outcome."""
    begun: dict[Any, int] = {}
    found: dict[int, int] = {}
    for place, event in enumerate(events):
        data = event.data_if_known
        if isinstance(data, CallStarted | ModelStarted):
            begun[_call(event.step, data)] = place
        elif isinstance(data, CallFinished | CallAsked | ModelFinished):
            # A call that is begun once more has its outcome after its second beginning.
            start = begun.pop(_call(event.step, data), None)
            if start is not None:
                found[start] = place
    return found


def is_of_step(data: EventData | None) -> bool:
    """Whether events of this kind may belong to a step; no event of a newer release does."""
    match data:
        case (
            CallStarted() | CallFinished() | CallAsked() | CallRefused() | StepHeld() | StepUncertain()
            | StandingGiven() | CapReached() | ModelStarted() | ModelFinished() | StepFinished() | StepChecked()
            | ConditionEvaluated()
        ):  # fmt: skip
            return True
        case (
            RunStarted() | Configured() | TakeOverAsked() | OwnerReplaced() | PlanRevised() | PlanRefused()
            | ReviewRequested() | Decided() | Steered() | Executing() | BudgetReached() | Paused() | ValueRedacted()
            | RunEnded() | RunReopened() | StepSkipped() | ResultSupplied() | RunForked() | Inherited()
            | CallInherited() | StandingRevoked() | Voted() | ResponseGiven() | ReviewReminded() | ReviewEscalated()
            | ReviewExpired() | LateAnswer() | CallPreviewed() | None
        ):  # fmt: skip
            return False
        case _:
            assert_never(data)


def _call(step: str | None, data: CallStarted | CallFinished | CallAsked | ModelStarted | ModelFinished) -> Any:
    """Return what the beginning and the end of a call have in common."""
    return data.key if isinstance(data, ModelStarted | ModelFinished) else (step, data.item, data.call)
