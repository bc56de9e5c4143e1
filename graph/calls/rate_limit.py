"""Rate limits: the delay before a call may be made."""

import math
import threading
import time
from collections.abc import Callable, Mapping

RateKey = tuple[str, float]
"""The name of a tool or a model, and its calls per minute."""

SHORT_WAIT_S = 60.0
"""A call of a run waits in its process for its turn at most so many seconds; for a later one the run pauses."""


class Schedule:
    """Time of the next turn of each slot, shared by graphs and threads; past turns are removed."""

    def __init__(self) -> None:
        self._next: dict[RateKey, float] = {}
        self._taking = threading.Lock()

    def __len__(self) -> int:
        return len(self._next)

    def take(self, slot: RateKey, now: float, longest_s: float = math.inf) -> float:
        """Take the next turn of a slot and return its time; none is taken that is more than `longest_s` away."""
        with self._taking:
            if slot not in self._next:  # a slot whose turn is past behaves like a new one
                self._next = {other: turn for other, turn in self._next.items() if turn > now}
            turn = max(now, self._next.get(slot, now))
            if turn - now > longest_s:
                return now
            self._next[slot] = turn + 60.0 / slot[1]
            return turn


_of_this_process = Schedule()


class RateLimiter:
    """Space the calls of each name evenly.

    Args:
        rates: Calls per minute by the name of a tool or a model.
        clock: A monotonic clock, in seconds.
        schedule: The turns taken so far; shared by all limiters with the same rate for a name.
        longest_s: The longest wait; a call whose turn is later does not wait, and is left to the caps of the ledger.
    """

    def __init__(
        self,
        rates: Mapping[str, float],
        clock: Callable[[], float],
        schedule: Schedule | None = None,
        longest_s: float = math.inf,
    ) -> None:
        self._rates, self._clock, self._longest_s = rates, clock, longest_s
        self._schedule = Schedule() if schedule is None else schedule

    def wait_s(self, name: str) -> float:
        """Take the next turn and return the seconds until then; 0 if the name has no limit."""
        rate = self._rates.get(name)
        if rate is None:
            return 0.0
        now = self._clock()
        return self._schedule.take((name, rate), now, self._longest_s) - now


def process_rate_limiter(rates: Mapping[str, float], longest_s: float = math.inf) -> RateLimiter:
    """Return a rate limiter on the schedule shared by all graphs of this process, also by successive ones."""
    return RateLimiter(rates, time.monotonic, _of_this_process, longest_s)
