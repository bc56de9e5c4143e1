"""Until when a request may be decided, and what happens before and after."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from planner_executor.graph.plan.json_values import is_number

OnExpire = Literal["reject", "end"]
"""What follows if nobody decides: all that was asked counts as rejected, or the run ends."""


@dataclass(frozen=True)
class Deadline:
    """The time to decide a request: `within_s` seconds from `since` (Unix seconds), which an event of the run has.

    People are reminded `reminders_s`, and others may decide too `escalations_s`, after `since`; both ascend.
    """

    since: float
    within_s: float
    reminders_s: tuple[float, ...] = ()
    escalations_s: tuple[float, ...] = ()
    on_expire: OnExpire = "reject"

    @property
    def until(self) -> float:
        """The time, in Unix seconds, from which on nobody can decide any more."""
        return self.since + self.within_s

    def next_due(self, handled_s: float = 0.0) -> float:
        """Return when something falls due next, in Unix seconds, if all up to `handled_s` after `since` was done."""
        left = [moment for moment in (*self.reminders_s, *self.escalations_s) if moment > handled_s]
        return self.since + min([*left, self.within_s])

    def to_json(self) -> dict[str, Any]:
        """Return it as the ledger keeps it; unset fields are left out."""
        lists = {"reminders_s": list(self.reminders_s), "escalations_s": list(self.escalations_s)}
        found = {name: value for name, value in lists.items() if value}
        return {"since": self.since, "within_s": self.within_s, **found, "on_expire": self.on_expire}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "Deadline":
        """Parse the output of `to_json`; a redaction may have replaced moments, but no bound.

        Raises:
            KeyError, TypeError: It is malformed.
        """
        reminders, escalations = (
            tuple(filter(is_number, raw.get(name, ()))) for name in ("reminders_s", "escalations_s")
        )
        if not (is_number(raw["since"]) and is_number(raw["within_s"])):
            raise TypeError("since or within_s is not a number")
        return cls(raw["since"], raw["within_s"], reminders, escalations, on_expire_of(raw["on_expire"]))


def on_expire_of(word: Any) -> OnExpire:
    """Return what a record says; a redaction may have replaced it."""
    return "end" if word == "end" else "reject"


def moment_in_words(at: float) -> str:
    """Return a time for people everywhere.

    >>> moment_in_words(1795389814.3)
    '2026-11-22 at 23:23 UTC'
    """
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d at %H:%M} UTC"
