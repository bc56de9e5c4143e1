"""What it means to look for runs: names, pages and statuses, for every ledger."""

from dataclasses import replace

from graph.ledger.protocol import RunKey
from graph.record.run_filter import RunFilter
from graph.record.summary import RunSummary

CANDIDATES = 9
"""So many runs are named at most if the beginning of a name fits several."""
LIVE = ("planning", "running")
"""Statuses of runs that are paused if no process works on them."""
NUMBER_DIGITS = 18
"""More than any run's number has."""


def run_in(name: str) -> RunKey | None:
    """Return the run that a name is the id of, None if it can be no id.

    >>> run_in("demo.2"), run_in("demo")
    (RunKey(thread='demo', n=2), None)
    """
    thread, _, number = name.rpartition(".")
    if not (number.isdecimal() and number.isascii() and len(number) <= NUMBER_DIGITS):
        return None
    return RunKey(thread, int(number))


def as_shown(summary: RunSummary, is_worked_on: bool) -> RunSummary:
    """Return a run as lists show it: one that nobody works on is paused."""
    return summary if is_worked_on or summary.status not in LIVE else replace(summary, status="paused")


def matches(shown: RunSummary, wanted: RunFilter) -> bool:
    """Whether a run, as it is shown, belongs on a page; where the page begins and ends is another question."""
    return (
        wanted.status in (None, shown.status)
        and (wanted.tag is None or wanted.tag in shown.tags)
        and (wanted.since is None or shown.started_at >= wanted.since)
        and (wanted.text is None or any(_holds(text, wanted.text) for text in (shown.goal, shown.thread)))
    )


def _holds(text: str, part: str) -> bool:
    return part.lower() in text.lower()
