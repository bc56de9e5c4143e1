"""A limit on attempts to sign in, by address or by link."""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

ATTEMPTS, WINDOW_S = 10, 60.0
ADDRESSES = 10_000
"""Addresses and links that are remembered; the one that came first is forgotten first."""


@dataclass
class Attempts:
    """Counts attempts of the last minute by address or link."""

    most: int = ATTEMPTS
    now: Callable[[], float] = time.monotonic
    _times: "OrderedDict[str, deque[float]]" = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def allows(self, address: str) -> bool:
        """Count an attempt, and return whether it is within the limit."""
        with self._lock:
            times = self._times.setdefault(address, deque(maxlen=self.most))
            while len(self._times) > ADDRESSES:
                self._times.popitem(last=False)
            now = self.now()
            if len(times) == self.most and now - times[0] < WINDOW_S:
                return False
            times.append(now)
            return True

    def forgive(self, address: str) -> None:
        """Take back the latest attempt, since it was not a failure."""
        with self._lock:
            if times := self._times.get(address):
                times.pop()
