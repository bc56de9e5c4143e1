"""Costs of a run's steps, and the steps whose natural-language criterion was not judged."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from planner_executor.graph.errors import UnknownEventError
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.events import (
    BudgetReached,
    CallAsked,
    CallFinished,
    CallInherited,
    CallRefused,
    CallStarted,
    CapReached,
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
from planner_executor.graph.words.name_list import counted

PLANNING = "planning"
"""Stands for model calls that belong to no step."""


@dataclass(frozen=True)
class StepCost:
    """Calls, tokens, and US dollars; the latter are None if the price of a model call is unknown."""

    tool_calls: int = 0
    model_calls: int = 0
    tokens: int = 0
    cost_usd: float | None = 0.0

    def with_model_call(self, call: ModelFinished) -> "StepCost":
        """Return the cost with one more model call."""
        tokens = call.usage.total_tokens if call.usage is not None else 0
        paid_usd = call.paid_usd
        cost_usd = self.cost_usd + paid_usd if self.cost_usd is not None and paid_usd is not None else None
        return StepCost(self.tool_calls, self.model_calls + 1, self.tokens + tokens, cost_usd)

    def to_json(self) -> dict[str, int | float | None]:
        """Return the cost as data."""
        counts = {"tool_calls": self.tool_calls, "model_calls": self.model_calls, "tokens": self.tokens}
        return {**counts, "cost_usd": self.cost_usd}

    def __str__(self) -> str:
        """Return the cost in words.

        >>> str(StepCost(1, 2, 340, 0.0021)), str(StepCost(0, 1, 5, None))
        ('1 tool call, 2 model calls, 340 tokens, 0.0021 US dollars', '1 model call, 5 tokens, price unknown')
        """
        parts = [_counted(self.tool_calls, "tool call"), _counted(self.model_calls, "model call")]
        parts.append(_counted(self.tokens, "token"))
        if self.model_calls:
            parts.append("price unknown" if self.cost_usd is None else f"{self.cost_usd:.6g} US dollars")
        return ", ".join(filter(None, parts))


def step_costs(events: Iterable[Event]) -> dict[str, StepCost]:
    """Return step id -> cost, in the order of first calls; `planning` has the calls of no step."""
    found: dict[str, StepCost] = {}
    for event in events:
        if isinstance(data := _data(event), CallStarted | ModelFinished):
            found[event.step or PLANNING] = cost_with(found.get(event.step or PLANNING, StepCost()), data)
    return found


def cost_with(before: StepCost, data: EventData) -> StepCost:
    """Return the cost after an event; most events cost nothing."""
    if isinstance(data, CallStarted):
        return StepCost(before.tool_calls + 1, before.model_calls, before.tokens, before.cost_usd)
    return before.with_model_call(data) if isinstance(data, ModelFinished) else before


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
                | Paused() | ValueRedacted() | RunEnded() | RunForked() | CallInherited() | StandingGiven()
                | StandingRevoked() | Voted() | ResponseGiven() | CapReached() | ReviewReminded() | ReviewEscalated()
                | ReviewExpired() | LateAnswer() | None
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


def _counted(count: int, what: str) -> str:
    return counted(count, what) if count else ""
