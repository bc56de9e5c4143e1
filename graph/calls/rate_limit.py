"""Rate limits: the delay before a call may be made."""

import threading
import time
from collections.abc import Callable, Mapping

RateKey = tuple[str, float]
"""The name of a tool or a model, and its calls per minute."""


class Schedule:
    """Time of the next turn of each slot, shared by graphs and threads; past turns are removed."""

    def __init__(self) -> None:
        self._next: dict[RateKey, float] = {}
        self._taking = threading.Lock()

    def __len__(self) -> int:
        return len(self._next)

    def take(self, slot: RateKey, now: float) -> float:
        """Take the next turn of a slot and return its time."""
        with self._taking:
            if slot not in self._next:  # a slot whose turn is past behaves like a new one
                self._next = {other: turn for other, turn in self._next.items() if turn > now}
            turn = max(now, self._next.get(slot, now))
            self._next[slot] = turn + 60.0 / slot[1]
            return turn


_of_this_process = Schedule()


class RateLimiter:
    """Space the calls of each name evenly.

    Args:
        rates: Calls per minute by the name of a tool or a model.
        clock: A monotonic clock, in seconds.
        schedule: The turns taken so far; shared by all limiters with the same rate for a name.
    """

    def __init__(
        self, rates: Mapping[str, float], clock: Callable[[], float], schedule: Schedule | None = None
    ) -> None:
        self._rates, self._clock = rates, clock
        self._schedule = Schedule() if schedule is None else schedule

    def wait_s(self, name: str) -> float:
        """Take the next turn and return the seconds until then; 0 if the name has no limit."""
        rate = self._rates.get(name)
        if rate is None:
            return 0.0
        now = self._clock()
        return self._schedule.take((name, rate), now) - now


def process_rate_limiter(rates: Mapping[str, float]) -> RateLimiter:
    """Return a rate limiter on the schedule shared by all graphs of this process, also by successive ones."""
    return RateLimiter(rates, time.monotonic, _of_this_process)
