"""Caps across runs: the limits of a day and the rates that the calls of all runs of a database count against."""

from collections.abc import Mapping
from datetime import datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from planner_executor.graph.record.budget import unit_in_words

UTC = "UTC"
UNITS_S: Mapping[str, float] = {"second": 1.0, "minute": 60.0, "hour": 3600.0}


class DayCap(NamedTuple):
    """A limit of one day over all runs: `name` as in a budget, for everyone together or for one `user`.

    The day begins at midnight in `time_zone`. `user` is empty for everyone.
    """

    name: str
    limit: float
    user: str = ""
    time_zone: str = UTC

    def until(self, now: float) -> float:
        """Return the end of the day at a time, both in Unix seconds.

        >>> DayCap("tool_calls", 5).until(86_399.5), DayCap("tool_calls", 5, time_zone="Asia/Tokyo").until(0.0)
        (86400.0, 54000.0)
        """
        zone = ZoneInfo(self.time_zone)
        # By the date: a day on which the clocks change has 23 or 25 hours.
        tomorrow = datetime.fromtimestamp(now, zone).date() + timedelta(days=1)
        return datetime.combine(tomorrow, time(), zone).timestamp()

    def __str__(self) -> str:
        """Return the cap in words.

        >>> str(DayCap("calls.send", 2, "unverified"))
        'at most 2 calls of send a day for each user'
        """
        return f"at most {unit_in_words(self.name, self.limit)} a day{' for each user' if self.user else ''}"


class RateCap(NamedTuple):
    """Calls of a tool or a model, evenly spaced over all runs: one per `interval_s` seconds."""

    name: str
    interval_s: float

    def wait_s(self, last: float | None, now: float) -> float:
        """Return the seconds until the next turn, 0 if it is now.

        Args:
            last: The time of the last turn that was taken, None if there was none. One in the future was taken by a
                clock that has been set back since, and counts for nothing.
            now: The time now.
        """
        return max(0.0, last + self.interval_s - now) if last is not None and last <= now else 0.0

    def __str__(self) -> str:
        """Return the cap in words.

        >>> str(RateCap("web_search", 0.2)), str(RateCap("send", 36.0))
        ('at most 5 calls of web_search a second', 'at most 100 calls of send an hour')
        """
        counts = {unit: round(size / self.interval_s, 3) for unit, size in UNITS_S.items() if size >= self.interval_s}
        whole = (unit for unit, count in counts.items() if count.is_integer())
        unit = next(whole, next(iter(counts), "hour"))
        count = counts.get(unit, round(UNITS_S["hour"] / self.interval_s, 3))
        calls = "call" if count == 1 else "calls"
        return f"at most {count:g} {calls} of {self.name} {'an' if unit == 'hour' else 'a'} {unit}"


class CapUse(NamedTuple):
    """What a call takes of the caps: `amounts` of those of a day, and a turn of the rates; `call` is its key."""

    call: str
    amounts: tuple[tuple[DayCap, float], ...] = ()
    turns: tuple[RateCap, ...] = ()


class CapCorrection(NamedTuple):
    """What is known of a call afterwards: how much more than counted it took, by name of the cap; less is negative.

    Only what was counted for the call is given back, and only once.
    """

    call: str
    more: Mapping[str, float]


CapEntry = CapUse | CapCorrection
