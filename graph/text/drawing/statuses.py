"""The style of each step status; the word always stands beside the colour."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class StatusStyle:
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


def status_of(step: str, statuses: Mapping[str, str] | None) -> str | None:
    """Return the word for a step: None if no status is drawn, pending if it has none or an unknown one.

    >>> status_of("a", {"a": "failed"}), status_of("b", {"a": "failed"}), status_of("a", None)
    ('failed', 'pending', None)
    """
    if statuses is None:
        return None
    word = statuses.get(step, "pending")
    return word if word in LOOKS else "pending"
