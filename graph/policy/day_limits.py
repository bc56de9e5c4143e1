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
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

from planner_executor.graph.plan.json_values import is_number
from planner_executor.graph.record.budget import NO_BUDGET, Budget
from planner_executor.graph.record.caps import UNITS_S, UTC, DayCap, RateCap
from planner_executor.graph.words.tables import BESIDE, Shape, fault

NOT_DAILY = ("steps", "replans", "wall_s", "elapsed_s")
NO_LIMIT = "is no limit of a day; use some of {names}"
RATE = re.compile(rf"\s*(\d+(?:\.\d+)?)\s*/\s*({'|'.join(UNITS_S)})\s*")
NO_RATE = 'must be a number of calls per minute above 0, or text such as "5/second", "30/minute" or "100/hour"'


def _above_0(given: Budget) -> Budget:
    """Refuse a limit of 0, saying what to write instead."""
    for name in given.names:
        if not given.of(name):
            instead = (
                f'[tools.{name[6:]}] with verdict = "deny"' if name.startswith("calls.") else "[limits] for each run"
            )
            why = f"is 0, so that a run would pause until midnight, every day; use {instead}, or a limit above 0"
            raise fault(why, *name.split(".", 1))
    return given


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError, TypeError) as error:  # `ZoneInfoNotFoundError` is a `KeyError`
        raise fault(f'is {name!r}, which is no time zone; name one such as "Europe/Berlin"') from error
    return name


def _apart(given: Any) -> Any:
    """Return a table with the limits of all runs, which stand beside the rest, as one entry."""
    if not isinstance(given, Mapping):
        raise fault("must be a table")
    rest = {name: given[name] for name in ("per_user", "time_zone") if name in given}
    return {**rest, BESIDE: {name: limit for name, limit in given.items() if name not in rest}}


PerUser = Annotated[Budget, AfterValidator(_above_0), Shape(unknown=NO_LIMIT, without=NOT_DAILY)]
Together = Annotated[
    Budget, AfterValidator(_above_0), Shape(unknown=f"{NO_LIMIT}, per_user, time_zone", without=NOT_DAILY)
]


@dataclass(frozen=True)
class DayLimits:
    """What all runs of a database may spend in a day: together, and `per_user`. The day is that of `time_zone`."""

    together: Annotated[Together, Field(validation_alias=BESIDE)] = NO_BUDGET
    per_user: PerUser = NO_BUDGET
    time_zone: Annotated[str, PlainValidator(_zone)] = UTC

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
DayTable = Annotated[DayLimits, BeforeValidator(_apart)]


def rate_of(given: Any) -> float | None:
    """Return the calls per minute of a rate, None if the value is not a rate.

    >>> rate_of(30), rate_of("5/second"), rate_of("90/hour"), rate_of("5/day"), rate_of(0)
    (30, 300.0, 1.5, None, None)
    """
    if isinstance(given, str):
        found = RATE.fullmatch(given)
        return rate_of(float(found[1]) * 60.0 / UNITS_S[found[2]]) if found else None
    return given if is_number(given) and 0 < given < float("inf") else None


def _rate(given: Any) -> float:
    if (per_minute := rate_of(given)) is None:
        raise fault(NO_RATE)
    return per_minute


Rates = Annotated[Mapping[str, Annotated[float, PlainValidator(_rate)]], Shape()]


def rate_cap(name: str, per_minute: float) -> RateCap:
    """Return the cap of a rate."""
    return RateCap(name, 60.0 / per_minute)
