"""The decision to replan or to end when no further step can start."""

from dataclasses import dataclass
from typing import Literal

from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.reading import ParsedPlan
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.modes import Replan
from planner_executor.graph.record.ending import Ending
from planner_executor.graph.record.remaining import steps_left
from planner_executor.graph.record.run_state import RunState

Cause = Literal["failure", "step", "horizon", "steered"]
ONE_STEP = "one step at a time: give the next step only, or the answer"


@dataclass(frozen=True)
class ReplanPolicy:
    """When to replan, how far ahead to plan, and the limits on both.

    `horizon` is the number of unfinished steps that a plan may have, None for no limit.
    """

    replan: Replan
    horizon: int | None
    max_replans: int
    max_rounds: int

    def cause(self, plan: Plan, record: RunState, *, progressed: bool = True) -> Cause | None:
        """Return the cause for replanning, None if the run should not be replanned.

        Args:
            plan: The plan in force.
            record: The run.
            progressed: Whether a step has ended since the last plan.
        """
        # First: what a person has changed holds for all that is left, whatever else happened.
        if record.plan_state.steered:
            return "steered"
        if self.horizon is not None:
            return "horizon" if record.plan_state.rounds < self.max_rounds else None
        if any(record.steps.failed_in(step.id, record.plan_state.current_pass) for step in plan.steps):
            return "failure" if self.replan != "never" and record.plan_state.replans < self.max_replans else None
        left = steps_left(plan, record.steps.results)
        return "step" if self.replans_each_step(record) and left and progressed else None

    def replans_each_step(self, record: RunState) -> bool:
        """Whether to replan after each step; after the last round the plan runs on unchanged."""
        return self.replan == "every_step" and record.plan_state.rounds < self.max_rounds

    def checked(self, reading: ParsedPlan, record: RunState) -> ParsedPlan:
        """Return the reading of a plan, refused if the plan exceeds the horizon."""
        if self.horizon is None or reading.plan is None:
            return reading
        new = steps_left(reading.plan, record.steps.results)
        return ParsedPlan(None, (Issue(None, "steps", ONE_STEP),)) if len(new) > self.horizon else reading

    def ended(self, ending: Ending, record: RunState) -> Ending:
        """Return the ending of a run; with a horizon, success requires that the planner declared the goal reached."""
        if self.horizon is None or ending.status != "succeeded":
            return ending
        why = f"the planner did not declare the goal reached within {record.plan_state.rounds} rounds"
        return ending._replace(status="partial", reason=why)
