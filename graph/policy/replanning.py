"""What a run does when nothing more of its plan can start: plan on, for a reason, or end."""

from dataclasses import dataclass, replace
from typing import Literal

from graph.plan.issues import Issue
from graph.plan.reading import Reading
from graph.plan.schema import Plan
from graph.record.ending import Ending
from graph.record.run_state import RunState

Replan = Literal["failure", "every_step", "never"]
Cause = Literal["failure", "step", "horizon", "steered"]
ONE_STEP = "one step at a time: give the next step only, or the answer"


@dataclass(frozen=True)
class ReplanPolicy:
    """How far ahead is planned and when it is planned anew, and how often at most.

    `horizon` is the number of steps that a plan may hold beyond what is done, None for all of them.
    """

    replan: Replan
    horizon: int | None
    max_replans: int
    max_rounds: int

    def cause(self, plan: Plan, record: RunState, *, progressed: bool = True) -> Cause | None:
        """Return why the run is to be planned anew, None where it is not.

        Args:
            plan: The plan in force.
            record: The run.
            progressed: Whether a step has come to its end since the last plan.
        """
        if record.steered:
            return "steered"
        if self.horizon is not None:
            return "horizon" if record.rounds < self.max_rounds else None
        if any(record.failed_in(step.id, record.revision) for step in plan.steps):
            return "failure" if self.replan != "never" and record.replans < self.max_replans else None
        left = any(step.id not in record.succeeded for step in plan.steps)
        return "step" if self.looks_at_each_step(record) and left and progressed else None

    def looks_at_each_step(self, record: RunState) -> bool:
        """Whether the plan is looked at again after each step; when the last round is over it goes on as it is."""
        return self.replan == "every_step" and record.rounds < self.max_rounds

    def checked(self, reading: Reading, record: RunState) -> Reading:
        """Return what was read of a plan, refused where it goes beyond the horizon."""
        if self.horizon is None or reading.plan is None:
            return reading
        new = [step for step in reading.plan.steps if step.id not in record.succeeded]
        return Reading(None, (Issue(None, "steps", ONE_STEP),)) if len(new) > self.horizon else reading

    def ended(self, ending: Ending, record: RunState) -> Ending:
        """Return how a run ends that can start nothing more; it is no success unless its planner says it is done."""
        if self.horizon is None or ending.status != "succeeded":
            return ending
        why = f"the planner had not said that the goal was reached after {record.rounds} rounds"
        return replace(ending, status="partial", reason=why)
