"""How often a request is repeated, and how long is waited in between."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    """What time it is (Unix seconds), how to wait (seconds), and a random number from 0 to 1; tests bring their own."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random


@dataclass(frozen=True)
class RetryPolicy:
    """At most `attempts` requests; waits double from `first_wait_s` on and never exceed `longest_wait_s`."""

    attempts: int = 4
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0

    def wait_s(self, failed: int, asked_s: float | None, jitter: float) -> float | None:
        """Return how long to wait before the next request, or None where it is not to be made.

        Args:
            failed: How many requests have failed, this one included.
            asked_s: What the server asks for; it is waited for exactly so long.
            jitter: From 0 to 1, so that many callers do not come back at once.

        >>> RetryPolicy().wait_s(1, None, 1.0), RetryPolicy().wait_s(3, None, 0.0), RetryPolicy().wait_s(1, 7.0, 0.5)
        (1.0, 2.0, 7.0)
        >>> RetryPolicy().wait_s(4, None, 0.0), RetryPolicy().wait_s(1, 3600.0, 0.0)
        (None, None)
        """
        if failed >= self.attempts or (asked_s or 0.0) > self.longest_wait_s:
            return None
        if asked_s is not None:
            return asked_s
        return min(self.first_wait_s * 2.0 ** (failed - 1), self.longest_wait_s) * (0.5 + jitter / 2)


ONCE = RetryPolicy(attempts=1)
"""For a model that repeats requests itself."""
