"""Rate limits: how long a call has to wait for its turn."""

from collections.abc import Callable, Mapping


class Turns:
    """Gives calls of each name their turn, evenly spaced; shared by all runs of a graph.

    Args:
        rates: Calls per minute by the name of a tool or a model.
        clock: Seconds on a clock that never goes back.
    """

    def __init__(self, rates: Mapping[str, float], clock: Callable[[], float]) -> None:
        self._rates, self._clock = rates, clock
        self._next: dict[str, float] = {}

    def wait_s(self, name: str) -> float:
        """Take the next turn and return the seconds until it comes; 0 where nothing bounds the name."""
        rate = self._rates.get(name)
        if rate is None:
            return 0.0
        now = self._clock()
        turn = max(now, self._next.get(name, now))
        self._next[name] = turn + 60.0 / rate
        return turn - now
