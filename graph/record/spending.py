"""The budget of a run and its usage."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from planner_executor.graph.record.budget import NO_BUDGET, Budget, Usage
from planner_executor.graph.record.cost import NO_COST, StepCost, cost_with
from planner_executor.graph.record.events import (
    BudgetReached,
    CallStarted,
    Configured,
    Decided,
    Event,
    ModelFinished,
    ModelStarted,
    PlanRevised,
    RunReopened,
    RunStarted,
)


class BudgetExhausted(NamedTuple):
    """A reached limit of the budget, and the remaining steps."""

    limit: str
    left: tuple[str, ...]


@dataclass
class Spending:
    """The budget of a run and its usage; changed by events only.

    `begun` are the steps that count as started. `reserved` is the reserve of model calls without a recorded end, and
    counts as spent. `shortage` is the limit reached since the last decision. `replanner_is_due` means that the budget
    did not allow the replanner's call when it was due, `prevents_planning` that it did not allow a request for a plan
    since the last decision or the user's last change. `elapsed_s` is the time from the start of the run to its last
    call or reached limit, in seconds. `usage` is what limits count, with the reserves; `total` is what was spent.
    """

    budget: Budget = NO_BUDGET
    usage: Usage = field(default_factory=Usage)
    begun: set[str] = field(default_factory=set)
    reserved: dict[str, Mapping[str, float]] = field(default_factory=dict)
    shortage: BudgetExhausted | None = None
    replanner_is_due: bool = False
    prevents_planning: bool = False
    elapsed_s: float = 0.0
    total: StepCost = NO_COST

    def usage_under(self, bounds: Budget) -> Usage:
        """Return the usage; elapsed time is part of it only if a limit counts it."""
        return self.usage if bounds.elapsed_s is None else replace(self.usage, elapsed_s=self.elapsed_s)

    def spent_under(self, bounds: Budget) -> Usage:
        """Return what was spent in the units of a budget: the usage without the reserves."""
        return replace(self.usage_under(bounds), tokens=self.total.tokens, cost_usd=self.total.known_usd)

    @property
    def aside(self) -> Usage:
        """The reserves of model calls that have no answer, or had none when their process died."""
        # The two sums were added up in different orders, and differ in the last digits even if nothing is reserved.
        cost_usd = round(self.usage.cost_usd - self.total.known_usd, 9)
        return Usage(tokens=self.usage.tokens - self.total.tokens, cost_usd=cost_usd)

    def run_started(self, data: RunStarted) -> None:
        """Set the budget that the run was started with."""
        self.budget = data.budget

    def configured(self, data: Configured) -> None:
        """Lower the budget to that of stricter terms."""
        if data.budget is not None:
            self.budget = self.budget.within(data.budget)

    def steered(self) -> None:
        """Let a plan be asked for once: a limit that still prevents it is reached again."""
        self.prevents_planning = False

    def plan_revised(self, data: PlanRevised) -> None:
        """Count a replan, if the revision responds to a failure."""
        self.replanner_is_due = self.prevents_planning = False
        self.usage = self.usage.plus(replans=int(data.answers_failure))

    def decided(self, data: Decided | RunReopened) -> None:
        """Set a raised budget, if there is one; a decision or a retry ends a shortage, which may be reached again."""
        self.shortage, self.prevents_planning = None, False
        if data.budget is not None:
            self.budget = data.budget

    def budget_reached(self, data: BudgetReached) -> None:
        """Set the limit that was reached."""
        self.shortage = BudgetExhausted(data.limit, data.left)
        self.replanner_is_due = data.by == "replanner"
        self.prevents_planning = data.by in ("planner", "replanner")

    def call_started(self, event: Event, data: CallStarted) -> None:
        """Count a tool call, and its step if this is its first call."""
        self.total = cost_with(self.total, data)
        first = data.call == 0 and event.step not in self.begun
        self.begun.add(event.step or "")
        self.usage = self.usage.plus(tool_calls=1, steps=int(first), calls={data.tool: 1})

    def model_started(self, event: Event, data: ModelStarted) -> None:
        """Count a model call, its step if this is its first call, and the reserve of the call."""
        self.total = cost_with(self.total, data)
        first = event.step is not None and event.step not in self.begun
        if event.step is not None:
            self.begun.add(event.step)
        # A planner that asks its model has begun what was due.
        self.replanner_is_due = self.replanner_is_due and event.step is not None
        self.reserved[data.key] = data.reserved
        tokens, cost_usd = data.reserved.get("tokens", 0), data.reserved.get("cost_usd", 0.0)
        self.usage = self.usage.plus(model_calls=1, steps=int(first), tokens=tokens, cost_usd=cost_usd)

    def model_finished(self, data: ModelFinished) -> None:
        """Count the cost of a model call in place of its reserve."""
        self.worked(data.worked_s)
        aside, before = self.reserved.pop(data.key, {}), self.total
        self.total = after = cost_with(before, data)
        self.usage = self.usage.plus(
            tokens=after.tokens - before.tokens - aside.get("tokens", 0),
            cost_usd=(data.paid_usd or 0.0) - aside.get("cost_usd", 0.0),
        )

    def passed(self, elapsed_s: float) -> None:
        """Set the time since the start of the run.

        Only calls and reached limits move it, since a review has to show the same text until it is answered.
        """
        self.elapsed_s = round(elapsed_s, 1)

    def worked(self, worked_s: float | None) -> None:
        """Set the working time of the run so far, in seconds; None leaves it unchanged."""
        if worked_s:
            self.usage = replace(self.usage, wall_s=worked_s)
