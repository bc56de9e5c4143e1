"""A plan as the to-do list that chat clients draw."""

from collections.abc import Mapping
from typing import Literal

from planner_executor.graph.plain_text.sanitize import one_line
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.results import SETTLED

CONTENT_CHARACTERS = 120

Status = Literal["pending", "in_progress", "completed"]
Todo = dict[str, str]

_STATUS: Mapping[str, Status] = {**dict.fromkeys(SETTLED, "completed"), "running": "in_progress"}
_TOLD = ("failed", "blocked", "uncertain", "interrupted")
"""Statuses that stand in words, because the list has none for them."""


def todos(plan: Plan, statuses: Mapping[str, str], *, starts: bool) -> list[Todo]:
    """Return an entry for each step; a status that to-do lists lack is added in words.

    Args:
        plan: The plan.
        statuses: Step id -> status, for the steps that have one.
        starts: Whether the plan is about to be executed: the steps that wait for nothing are then in progress.
    """
    waits = plan.waits if starts else {}
    done = {step for step, status in statuses.items() if _STATUS.get(status) == "completed"}
    found = []
    for step in plan.steps:
        status = statuses.get(step.id, "pending")
        ready = starts and status == "pending" and done.issuperset(waits[step.id])
        words = f" ({status})" if status in _TOLD else ""
        content = f"{step.id}: {one_line(step.objective, CONTENT_CHARACTERS)}{words}"
        found.append({"content": content, "status": "in_progress" if ready else _STATUS.get(status, "pending")})
    return found
