"""What is left of a plan: steps that neither succeeded nor were skipped."""

from collections.abc import Mapping

from planner_executor.graph.plan.schedule import blocked_by, waits_for
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.results import StepResult

Results = Mapping[str, StepResult]


def skipped_in(plan: Plan, results: Results) -> dict[str, StepResult]:
    """Return the skipped steps of a plan, with those that need one: a skipped step has no result for them."""
    skipped = {step.id: results[step.id] for step in plan.steps if _has(results, step.id, "skipped")}
    if not skipped:
        return {}
    needing = blocked_by(waits_for(plan.steps), skipped)
    return skipped | {
        step: StepResult("skipped", error=f"needs {cause}, which was skipped")
        for step, cause in needing.items()
        if not _has(results, step, "succeeded")
    }


def steps_left(plan: Plan, results: Results) -> list[Step]:
    """Return the steps that still have to be done, in plan order."""
    skipped = skipped_in(plan, results)
    return [step for step in plan.steps if step.id not in skipped and not _has(results, step.id, "succeeded")]


def _has(results: Results, step: str, status: str) -> bool:
    return step in results and results[step].status == status
