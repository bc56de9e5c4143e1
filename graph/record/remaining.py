"""What is left of a plan: steps that neither succeeded nor were skipped."""

from collections.abc import Container, Mapping, Sequence

from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.results import StepResult

Results = Mapping[str, StepResult]


def skipped_in(plan: Plan, results: Results) -> dict[str, StepResult]:
    """Return the skipped steps of a plan, with those that need one: a skipped step has no result for them.

    A step with `run_if` needs one of those that it waits for.
    """
    if not any(_has(results, step.id, "skipped") for step in plan.steps):
        return {}
    skipped: dict[str, StepResult] = {}
    cause: dict[str, str] = {}  # also of steps that were given a result: who waits for one waits for what is before it
    for name in plan.order:
        if _has(results, name, "skipped"):
            skipped[name], cause[name] = results[name], name
        elif (needed := needed_by(plan.by_id[name], plan.waits[name], cause)) is not None:
            cause[name] = cause[needed]
            if not _has(results, name, "succeeded"):
                skipped[name] = needs(cause[needed])
    return {step.id: skipped[step.id] for step in plan.steps if step.id in skipped}


def needed_by(step: Step, waits: Sequence[str], skipped: Container[str]) -> str | None:
    """Return a skipped one of the steps that a step waits for if it is skipped too, None if it may start."""
    gone = [before for before in waits if before in skipped]
    return gone[0] if gone and (step.run_if is None or len(gone) == len(waits)) else None


def skipped_by(condition: str) -> StepResult:
    """Return the result of a step whose condition is false."""
    return StepResult("skipped", error=f"its condition is false: {condition}")


def needs(cause: str) -> StepResult:
    """Return the result of a step that is skipped because another one was."""
    return StepResult("skipped", error=f"needs {cause}, which was skipped")


def steps_left(plan: Plan, results: Results) -> list[Step]:
    """Return the steps that still have to be done, in plan order."""
    skipped = skipped_in(plan, results)
    return [step for step in plan.steps if step.id not in skipped and not _has(results, step.id, "succeeded")]


def _has(results: Results, step: str, status: str) -> bool:
    return step in results and results[step].status == status
