"""Whether an ended run can be retried, and which of its steps are then tried again."""

from typing import assert_never

from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.remaining import steps_left
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.run_status import ENDS, EndStatus


def is_final(status: EndStatus) -> bool:
    """Whether a run that ended so cannot be retried."""
    match status:
        case "succeeded" | "rejected":
            return True
        case "failed" | "partial" | "budget_exhausted" | "cancelled":
            return False
        case _:
            assert_never(status)


RETRIED: tuple[str, ...] = tuple(status for status in ENDS if not is_final(status))
"""Statuses of ended runs that can be retried."""


def is_retryable(record: RunState) -> bool:
    """Whether the run ended with a status that can be retried."""
    return record.ended is not None and record.ended.status in RETRIED


def steps_to_retry(record: RunState) -> tuple[str, ...]:
    """Return the ids of the failed steps of the plan in force; all that has not run is tried as well."""
    planned = (record.plan_state.plan or {}).get("steps", ())
    results = record.steps.results
    return tuple(step["id"] for step in planned if step["id"] in results and results[step["id"]].status == "failed")


def retry_fault(record: RunState, *, changed: bool) -> str | None:
    """Return why the run cannot be retried, and the next move; None if it can.

    Args:
        record: The run.
        changed: Whether the retry comes with another plan, feedback or a raised budget.
    """
    if record.ended is None:
        return "has not ended; continue it instead"
    if record.ended.status not in RETRIED:
        return f"ended as {record.ended.status}, which is final; start a new run"
    if not changed and _is_done(record):
        return "has no step left to try again; give feedback or another plan"
    return None


def _is_done(record: RunState) -> bool:
    if record.plan_state.awaits_plan:
        return False
    return not steps_left(Plan.model_validate(record.plan_state.plan), record.steps.results)
