"""The open request of a recorded run."""

from collections.abc import Mapping
from typing import Any

from planner_executor.graph.cli.recorded_run import RecordedRun
from planner_executor.graph.record.events import ReviewRequested


def asked(found: RecordedRun) -> list[Mapping[str, Any]]:
    """Return the actions of the open request as shown; a plan by name only, since `show` prints it anyway."""
    if not found.record.review_state.waits:
        return []
    shown = next(event.data for event in reversed(found.events) if isinstance(event.data, ReviewRequested))
    plan = [{"name": "run_plan", "args": {}}] if "run_plan" in shown.asked else []
    return [*plan, *shown.actions]
