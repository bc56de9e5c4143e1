"""Limits of a day and rates, over all runs of a database: as values, and as a policy file has them.

```toml
[limits.per_day]                     # of all runs together
tokens = 5_000_000
calls = { send_mail = 50 }
time_zone = "Europe/Berlin"          # whose midnight begins the day; default: UTC

[limits.per_day.per_user]            # of each user who starts runs
cost_usd = 2.0

[rates]
fetch_page = "5/second"              # a plain number is calls per minute
```
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from planner_executor.graph.plan.json_values import is_number
from planner_executor.graph.record.budget import NO_BUDGET, Budget, read_budget
from planner_executor.graph.record.caps import UNITS_S, UTC, DayCap, RateCap

DAILY = ("model_calls", "tokens", "cost_usd", "tool_calls", "calls")
RATE = re.compile(rf"\s*(\d+(?:\.\d+)?)\s*/\s*({'|'.join(UNITS_S)})\s*")
RATE_EXPECTED = 'must be a number of calls per minute above 0, or text such as "5/second", "30/minute" or "100/hour"'
Path = tuple[str, ...]


@dataclass(frozen=True)
class DayLimits:
    """What all runs of a database may spend in a day: together, and `per_user`. The day is that of `time_zone`."""

    together: Budget = NO_BUDGET
    per_user: Budget = NO_BUDGET
    time_zone: str = UTC

    @cached_property
    def is_set(self) -> bool:
        """Whether there is any limit."""
        return bool(self.together.names or self.per_user.names)

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools with a limit of their own."""
        return tuple(dict.fromkeys((*self.together.calls, *self.per_user.calls)))

    def caps(self, amounts: Mapping[str, float], user: str) -> tuple[tuple[DayCap, float], ...]:
        """Return the caps that a call of this user counts against, each with its amount, by name as in a budget."""
        return tuple(
            (DayCap(name, limits.of(name) or 0, whose, self.time_zone), amount)
            for limits, whose in ((self.together, ""), (self.per_user, user))
            for name, amount in amounts.items()
            if limits.of(name) is not None
        )

    def all_caps(self) -> Iterator[DayCap]:
        """Yield every cap, for people."""
        for limits, whose in ((self.together, ""), (self.per_user, "each")):
            yield from (DayCap(name, limits.of(name) or 0, whose, self.time_zone) for name in limits.names)

    def looser(self, than: "DayLimits") -> Iterator[str]:
        """Yield the limits of another that these exceed or lack; days of other zones cannot be compared."""
        yield from (f"limits.per_day.{name} is higher or not set" for name in self.together.beyond(than.together))
        yield from (
            f"limits.per_day.per_user.{name} is higher or not set" for name in self.per_user.beyond(than.per_user)
        )
        if than.is_set and self.time_zone != than.time_zone:
            yield "limits.per_day has another time_zone"

    def to_json(self) -> dict[str, Any]:
        """Return the table as a policy has it, empty without a limit."""
        if not self.is_set:
            return {}
        zone = {} if self.time_zone == UTC else {"time_zone": self.time_zone}
        per_user = {"per_user": self.per_user.to_json()} if self.per_user.names else {}
        return {**self.together.to_json(), **per_user, **zone}


NO_DAY_LIMITS = DayLimits()


def day_limits_of(raw: Mapping[str, Any]) -> DayLimits:
    """Return the limits in a table without faults."""
    return DayLimits(_budget(raw), _budget(raw.get("per_user", {})), raw.get("time_zone", UTC))


def day_limit_faults(raw: Any) -> Iterator[tuple[Path, str]]:
    """Yield (path, fault) of a table `limits.per_day`."""
    yield from _faults(raw, (*DAILY, "per_user", "time_zone"))
    if not isinstance(raw, Mapping):
        return
    yield from ((("per_user", *path), why) for path, why in _faults(raw.get("per_user", {}), DAILY))
    zone = raw.get("time_zone", UTC)
    if not isinstance(zone, str) or not _is_zone(zone):
        yield ("time_zone",), f'is {zone!r}, which is no time zone; name one such as "Europe/Berlin"'


def _faults(raw: Any, known: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    if not isinstance(raw, Mapping):
        yield (), "must be a table"
        return
    yield from (((name,), f"is no limit of a day; use some of {', '.join(known)}") for name in raw if name not in known)
    limits = {name: raw[name] for name in DAILY if name in raw}
    budget, faults = read_budget(limits)
    faults += [(name, _why_above_0(name)) for name in budget.names if not budget.of(name)]
    yield from ((tuple(name.split(".", 1)), why) for name, why in faults)


def _why_above_0(name: str) -> str:
    """Return why a limit cannot be 0, and what to write instead."""
    instead = f'[tools.{name[6:]}] with verdict = "deny"' if name.startswith("calls.") else "[limits] for each run"
    return f"is 0, so that a run would pause until midnight, every day; use {instead}, or a limit above 0"


def _budget(raw: Mapping[str, Any]) -> Budget:
    return read_budget({name: raw[name] for name in DAILY if name in raw})[0]


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # `ZoneInfoNotFoundError` is a `KeyError`
        return False
    return True


def rate_of(given: Any) -> float | None:
    """Return the calls per minute of a rate, None if the value is not a rate.

    >>> rate_of(30), rate_of("5/second"), rate_of("90/hour"), rate_of("5/day"), rate_of(0)
    (30, 300.0, 1.5, None, None)
    """
    if isinstance(given, str):
        found = RATE.fullmatch(given)
        return rate_of(float(found[1]) * 60.0 / UNITS_S[found[2]]) if found else None
    return given if is_number(given) and 0 < given < float("inf") else None


def rate_cap(name: str, per_minute: float) -> RateCap:
    """Return the cap of a rate."""
    return RateCap(name, 60.0 / per_minute)
