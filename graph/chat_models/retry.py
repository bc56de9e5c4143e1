"""Retry policy of model requests."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from planner_executor.graph.plan.backoff import doubled_s


async def _sleep_of_step(_step: str, seconds: float) -> None:
    await asyncio.sleep(seconds)


def is_time_zone(name: object) -> bool:
    """Whether a time zone has this IANA name."""
    try:
        return name == "UTC" or bool(isinstance(name, str) and ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False


class Clock(NamedTuple):
    """Time in Unix seconds, sleep in seconds, and a random number from 0 to 1; replaceable in tests.

    `step_over` returns when the time limit of a step has passed, `dated` the day that its model, perhaps for an item of
    a list, was told; a replay takes both from the record.
    """

    now: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random
    step_over: Callable[[str, float], Awaitable[None]] = _sleep_of_step
    dated: Callable[[str, int | None], str | None] = lambda _step, _item: None

    def date(self, step: str, item: int | None, time_zone: str) -> str:
        """Return the day on which a step begins, as `2026-01-31`, in a time zone of the IANA database."""
        zone = UTC if time_zone == "UTC" else ZoneInfo(time_zone)  # of which a system may have none but this
        return self.dated(step, item) or datetime.fromtimestamp(self.now(), zone).date().isoformat()


class RetryPolicy(NamedTuple):
    """Exponential backoff: at most `attempts` requests, waits from `first_wait_s` to `longest_wait_s`."""

    attempts: int = 4
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0

    def wait_s(self, failed: int, asked_s: float | None, jitter: float) -> float | None:
        """Return the wait before the next request, in seconds, or None to give up.

        Args:
            failed: Number of failed requests, this one included.
            asked_s: Wait requested by the server, which is then used exactly.
            jitter: Random number from 0 to 1 that spreads out concurrent callers.

        >>> RetryPolicy().wait_s(1, None, 1.0), RetryPolicy().wait_s(3, None, 0.0), RetryPolicy().wait_s(1, 7.0, 0.5)
        (1.0, 2.0, 7.0)
        >>> RetryPolicy().wait_s(4, None, 0.0), RetryPolicy().wait_s(1, 3600.0, 0.0)
        (None, None)
        """
        if failed >= self.attempts or (asked_s or 0.0) > self.longest_wait_s:
            return None
        if asked_s is not None:
            return asked_s
        return doubled_s(self.first_wait_s, failed, self.longest_wait_s) * (0.5 + jitter / 2)


ONCE = RetryPolicy(attempts=1)
"""For models whose client retries by itself."""
