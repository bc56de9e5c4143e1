"""Until when a request may be decided, and what happens before and after."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from planner_executor.graph.plan.json_values import is_number
from planner_executor.graph.record.codec import As, Coded, Written

OnExpire = Literal["reject", "end"]
"""What follows if nobody decides: all that was asked counts as rejected, or the run ends."""


def on_expire_of(word: Any) -> OnExpire:
    """Return what a record says; a redaction may have replaced it."""
    return "end" if word == "end" else "reject"


def _moments(raw: Any) -> tuple[float, ...]:
    return tuple(filter(is_number, raw))


Moments = Annotated[tuple[float, ...], As(list, _moments)]
"""Seconds after the beginning, without those that a redaction replaced; a bound is read whole or not at all."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Deadline(Coded):
    """The time to decide a request: `within_s` seconds from `since` (Unix seconds), which an event of the run has.

    People are reminded `reminders_s`, and others may decide too `escalations_s`, after `since`; both ascend.
    """

    since: float
    within_s: float
    reminders_s: Moments = ()
    escalations_s: Moments = ()
    on_expire: Written[Annotated[OnExpire, As(str, on_expire_of)]] = "reject"

    @property
    def until(self) -> float:
        """The time, in Unix seconds, from which on nobody can decide any more."""
        return self.since + self.within_s

    def next_due(self, handled_s: float = 0.0) -> float:
        """Return when something falls due next, in Unix seconds, if all up to `handled_s` after `since` was done."""
        left = [moment for moment in (*self.reminders_s, *self.escalations_s) if moment > handled_s]
        return self.since + min([*left, self.within_s])


def moment_in_words(at: float) -> str:
    """Return a time for people everywhere.

    >>> moment_in_words(1795389814.3)
    '2026-11-22 at 23:23 UTC'
    """
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d at %H:%M} UTC"
