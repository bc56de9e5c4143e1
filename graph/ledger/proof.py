"""How long a proof of a lease counts: an owner that slept since must look again before it acts.

A process can be stopped at any time and for any length of time, as `docker pause` and a closed lid do. See
`docs/decisions/0125-proof-before-an-effect.md`.
"""

import sys
import time
from collections.abc import Callable

from planner_executor.graph.ledger.lease import Pace

Clock = Callable[[], float]
CLOCKS = {"linux": "CLOCK_BOOTTIME", "darwin": "CLOCK_MONOTONIC_RAW"}
"""Clocks that go on while the machine is suspended, by platform; `time.monotonic` stands still on some."""


def sleepless_clock() -> Clock | None:
    """Return a clock in seconds that no suspension stops, None if this platform has none that is known."""
    number = getattr(time, CLOCKS.get(sys.platform, ""), None)
    if number is None:
        return None
    try:
        time.clock_gettime(number)
    except OSError:  # some sandboxes have none of these
        return None
    return lambda: time.clock_gettime(number)


CLOCK = sleepless_clock()


def now_s(clock: Clock | None) -> float | None:
    """Return the time, None if there is no such clock."""
    return clock() if clock is not None else None


def still_counts(proved_s: float | None, now_s: float | None, pace: Pace) -> bool:
    """Whether a proof counts: half of the lease's time has not passed yet, by a clock that no suspension stops.

    >>> still_counts(1.0, 5.9, Pace(lease_s=10.0)), still_counts(1.0, 6.1, Pace(lease_s=10.0))
    (True, False)
    >>> still_counts(None, 1.0, Pace()), still_counts(1.0, None, Pace())
    (False, False)
    """
    return proved_s is not None and now_s is not None and now_s - proved_s < pace.lease_s / 2
