"""No progress: repeated failures, and plans that were tried before."""

import re

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_state import RunState

ERROR_CHARACTERS = 200
UNTOLD = ("id", "depends_on", "success_criteria", "parent", "replaces")
"""Fields of a step that do not make it other work."""


def fingerprint(step: Step, result: StepResult) -> str:
    """Return the fingerprint of a failure: work and error, without ids, numbers and the like in the error.

    The work of a model step is its objective; that of a tool step its call, in any wording of the objective.
    """
    error = re.sub(r"\w*\d\w*", "", str(result.error))[:ERROR_CHARACTERS]
    untold = UNTOLD if step.tool is None else (*UNTOLD, "objective")
    return digest([{name: value for name, value in step.to_json().items() if name not in untold}, error])[:16]


def failures_of(plan: Plan, record: RunState) -> dict[str, str]:
    """Return step id -> fingerprint, for the steps that failed under the revision in force."""
    failed = [step for step in plan.steps if record.steps.failed_in(step.id, record.plan_state.current_pass)]
    return {step.id: fingerprint(step, record.steps.results[step.id]) for step in failed}


def stall_of(record: RunState, current: Plan, revised: Plan | None) -> str | None:
    """Return the reason why a revision of `current` makes no progress; None if it may make progress.

    Args:
        record: The run, with the failures that earlier revisions responded to.
        current: The plan in which they occurred.
        revised: The replanner's plan; None if it is invalid.
    """
    failures = failures_of(current, record)
    again = [step for step, mark in failures.items() if mark in record.plan_state.failures]
    if again:
        errors = "; ".join(f"{step}: {record.steps.results[step].error}" for step in again[:3])
        count = record.plan_state.replans
        return f"the same failure came again after {count} revision{'s' if count > 1 else ''}: {errors}"
    if revised is None:
        return "the replanner found no revision that can run"
    if failures and revised.digest in record.plan_state.digests[:-1]:
        tried = record.plan_state.digests.index(revised.digest) + 1
        return f"the replanner went back to revision {tried}, which failed before"
    return None
