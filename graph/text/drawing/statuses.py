"""The style of each status of steps and of runs; the word always stands beside the colour."""

from collections.abc import Mapping
from typing import NamedTuple, assert_never

from planner_executor.graph.record.run_status import STATUSES, RunStatus


class StatusStyle(NamedTuple):
    """One status: its mark on a terminal, a strong colour that white text is readable on, and a pale one."""

    mark: str
    strong: str
    pale: str


LOOKS: Mapping[str, StatusStyle] = {
    "pending": StatusStyle("○", "#64748b", "#ffffff"),
    "running": StatusStyle("►", "#1d4ed8", "#eff6ff"),
    "succeeded": StatusStyle("✓", "#15803d", "#f0fdf4"),
    "failed": StatusStyle("✗", "#b91c1c", "#fef2f2"),
    "blocked": StatusStyle("⊘", "#9a3412", "#fff7ed"),
    "skipped": StatusStyle("»", "#475569", "#f8fafc"),
    "interrupted": StatusStyle("‖", "#7e22ce", "#faf5ff"),
    "uncertain": StatusStyle("?", "#a16207", "#fefce8"),
}


def look_of_run(status: RunStatus) -> StatusStyle:
    """Return the style of a run's status."""
    match status:
        case "succeeded" | "failed" | "running":
            return LOOKS[status]
        case "planning":
            return LOOKS["running"]._replace(mark="…")
        case "waiting":
            return LOOKS["uncertain"]._replace(mark="!")
        case "paused":
            return LOOKS["interrupted"]
        case "partial":
            return LOOKS["uncertain"]._replace(mark="◐")
        case "cancelled":
            return LOOKS["skipped"]
        case "rejected" | "budget_exhausted" | "damaged":
            return LOOKS["failed"]
        case _:
            assert_never(status)


ALL_LOOKS: Mapping[str, StatusStyle] = {**LOOKS, **{status: look_of_run(status) for status in STATUSES}}


def status_of(step: str, statuses: Mapping[str, str] | None) -> str | None:
    """Return the word for a step: None if no status is drawn, pending if it has none or an unknown one.

    >>> status_of("a", {"a": "failed"}), status_of("b", {"a": "failed"}), status_of("a", None)
    ('failed', 'pending', None)
    """
    if statuses is None:
        return None
    word = statuses.get(step, "pending")
    return word if word in LOOKS else "pending"
