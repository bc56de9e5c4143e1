"""The counts of caps across runs: rules that every driver follows in the transaction of an intent or an outcome.

A driver keeps how much of a cap was used by the end of its day, what was counted for each call, and the last turn of
each rate. Rows of a day are kept for a while, for calls whose outcome comes later.
"""

from collections.abc import Mapping

from planner_executor.graph.errors import CapReachedError
from planner_executor.graph.record.budget import exceeds, unit_in_words
from planner_executor.graph.record.caps import DayCap, RateCap

KEPT_S = 3 * 86_400.0
"""How long after its day a row is kept, in seconds."""


def check_day(database: str, cap: DayCap, used: float, amount: float, now: float) -> None:
    """Refuse a call that would exceed a cap of the day.

    Raises:
        CapReachedError: It would.
    """
    if exceeds(used, amount, cap.limit):
        raise CapReachedError(database, cap.name, _words(cap, amount), cap.until(now) - now)


def _words(cap: DayCap, amount: float) -> str:
    """Return what a cap allows; a call that is beyond it on any day is one that somebody has to raise it for.

    >>> _words(DayCap("tokens", 500), 90.0), _words(DayCap("tokens", 500), 900.0)
    ('at most 500 tokens a day', 'at most 500 tokens a day, which this call alone exceeds on any day (900 tokens)')
    """
    if not exceeds(0.0, amount, cap.limit):
        return str(cap)
    return f"{cap}, which this call alone exceeds on any day ({unit_in_words(cap.name, amount)})"


def check_turn(database: str, cap: RateCap, wait_s: float) -> None:
    """Refuse a call whose turn under a rate is later.

    Raises:
        CapReachedError: It is.
    """
    if wait_s > 0:
        raise CapReachedError(database, cap.name, str(cap), wait_s, is_rate=True)


def corrected(counted: float, more: Mapping[str, float], name: str) -> float:
    """Return what counts for a call under a cap after a correction, at least 0."""
    return max(0.0, counted + more.get(name, 0.0))
