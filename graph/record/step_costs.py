"""Costs of a run's steps, and the steps whose natural-language criterion was not judged."""

from collections.abc import Iterable
from typing import assert_never

from planner_executor.graph.errors import UnknownEventError
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.cost import NO_COST, PLANNING, StepCost, cost_with
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
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.steps import Steps
from planner_executor.graph.record.summary import CHANGED


def step_costs(events: Iterable[Event]) -> dict[str, StepCost]:
    """Return step id -> cost, in the order of first calls; `planning` has the calls of no step."""
    found: dict[str, StepCost] = {}
    for event in events:
        if isinstance(data := _data(event), CallStarted | ModelStarted | ModelFinished):
            found[event.step or PLANNING] = cost_with(found.get(event.step or PLANNING, NO_COST), data)
    return found


def unjudged_steps(plan: Plan | None, events: Iterable[Event]) -> list[str]:  # noqa: C901  (a case for each kind)
    """Return the steps that `Steps.unjudged` names after these events, some of which may be unreadable."""
    steps = Steps()
    for event in events:
        step = event.step or ""
        match _data(event):
            case StepChecked() as data:
                steps.step_checked(step, data, Pass(data.revision))
            case StepFinished() as data:
                steps.step_finished(step, data, Pass(data.revision))
            case CallFinished() as data:
                if data.is_the_step:
                    steps.work_finished(step, data, Pass(0))
            case Inherited() as data:
                steps.inherited(step, data)
            case ResultSupplied() as data:
                steps.result_supplied(event, data)
            case StepSkipped() as data:
                steps.step_skipped(step, data)
            case RunReopened() as data:
                steps.run_reopened(data)
            case (
                RunStarted() | Configured() | TakeOverAsked() | OwnerReplaced() | PlanRevised() | PlanRefused()
                | ReviewRequested() | Decided() | Steered() | Executing() | CallStarted() | CallAsked()
                | CallRefused() | StepHeld() | StepUncertain() | ModelStarted() | ModelFinished() | BudgetReached()
                | ConditionEvaluated()
                | Paused() | ValueRedacted() | RunEnded() | RunForked() | CallInherited() | StandingGiven()
                | StandingRevoked() | Voted() | ResponseGiven() | CapReached() | ReviewReminded() | ReviewEscalated()
                | ReviewExpired() | LateAnswer() | CallPreviewed() | None
            ):  # fmt: skip
                pass
            case _ as never:
                assert_never(never)
    return steps.unjudged(plan) if plan is not None else []


def _data(event: Event) -> EventData | None:
    try:
        return event.data
    except (UnknownEventError, *CHANGED):  # of a newer release, or changed, which `verify` names
        return None
