"""Events that another process wrote while nobody worked on the run."""

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
    Event,
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


def is_by_others(event: Event) -> bool:
    """Whether another process wrote the event while the run had no owner: owners record their checkpoint."""
    match event.data_if_known:
        case RunEnded() as data:
            return data.is_cancelled and data.checkpoint is None
        case Steered() as data:
            return data.checkpoint is None
        case Configured() as data:
            return data.approver is not None
        case (
            ReviewReminded() | ReviewEscalated() | ReviewExpired() | LateAnswer() | StepSkipped() | ResultSupplied()
            | StandingRevoked() | ResponseGiven() | TakeOverAsked() | OwnerReplaced() | ValueRedacted()
        ):  # fmt: skip
            return True
        case (
            RunStarted() | PlanRevised() | PlanRefused() | ReviewRequested() | Decided() | Executing()
            | CallStarted() | CallFinished() | CallAsked() | CallRefused() | StepHeld() | StepUncertain()
            | ModelStarted() | ModelFinished() | StepFinished() | StepChecked() | BudgetReached() | Paused()
            | ConditionEvaluated()
            | RunReopened() | RunForked() | Inherited() | CallInherited() | StandingGiven() | Voted() | CapReached()
            | CallPreviewed() | None
        ):  # fmt: skip
            return False
        case _ as never:
            assert_never(never)
