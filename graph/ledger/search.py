"""Run lookup rules of every ledger: names, filters and shown statuses."""

from collections.abc import Sequence

from planner_executor.graph.record.summary import RunSummary

CANDIDATES = 9
"""Maximum number of runs returned for a prefix."""
LIVE = ("planning", "running")
"""Statuses that are shown as paused if the run has no owner."""
TOOK = "(coalesce(ended_at, updated_at) - started_at)"
"""How long a run took, in SQL; see `RunSummary.took_s`."""
UNFINISHED = (*LIVE, "paused")
"""Statuses of runs that can go on without a person."""
UNDER_WAY = (*UNFINISHED, "waiting")
"""Statuses of runs that have not ended."""


def as_shown(summary: RunSummary, is_worked_on: bool) -> RunSummary:
    """Return a run as shown in lists: paused if it is live but has no owner."""
    return summary if is_worked_on or summary.status not in LIVE else summary._replace(status="paused")


def stored_statuses(shown: Sequence[str]) -> tuple[str, ...]:
    """Return the statuses of the index under which runs may stand that are shown with one of these."""
    return tuple(dict.fromkeys((*shown, *(LIVE if "paused" in shown else ()))))


def like_pattern(text: str) -> str:
    r"""Return the pattern for LIKE of texts that contain this one; the escape character is a backslash.

    >>> print(like_pattern("100%"))
    %100\%%
    """
    return "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
