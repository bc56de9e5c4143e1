"""Rate limits: how long a call has to wait for its turn."""

import threading
import time
from collections.abc import Callable, Mapping

Slot = tuple[str, float]
"""The name of a tool or a model, and its calls per minute."""


class Schedule:
    """When the next turn of each slot is, for any number of graphs and threads; what is past is forgotten."""

    def __init__(self) -> None:
        self._next: dict[Slot, float] = {}
        self._taking = threading.Lock()

    def __len__(self) -> int:
        return len(self._next)

    def take(self, slot: Slot, now: float) -> float:
        """Take the next turn of a slot and return when it is."""
        with self._taking:
            if slot not in self._next:  # a slot whose turn has come is as good as a new one
                self._next = {other: turn for other, turn in self._next.items() if turn > now}
            turn = max(now, self._next.get(slot, now))
            self._next[slot] = turn + 60.0 / slot[1]
            return turn


_of_this_process = Schedule()


class RateLimiter:
    """Gives calls of each name their turn, evenly spaced.

    Args:
        rates: Calls per minute by the name of a tool or a model.
        clock: Seconds on a clock that never goes back.
        schedule: The turns that are taken; shared by all whose rate of a name is the same.
    """

    def __init__(
        self, rates: Mapping[str, float], clock: Callable[[], float], schedule: Schedule | None = None
    ) -> None:
        self._rates, self._clock = rates, clock
        self._schedule = Schedule() if schedule is None else schedule

    def wait_s(self, name: str) -> float:
        """Take the next turn and return the seconds until it comes; 0 where nothing bounds the name."""
        rate = self._rates.get(name)
        if rate is None:
            return 0.0
        now = self._clock()
        return self._schedule.take((name, rate), now) - now


def process_rate_limiter(rates: Mapping[str, float]) -> RateLimiter:
    """Return turns that all graphs of this process share, also one after the other."""
    return RateLimiter(rates, time.monotonic, _of_this_process)
