"""Times for people: a span, and a moment by the clock of this machine."""

import time


def took(seconds: float) -> str:
    """Return a span of time in two units at most.

    >>> took(0.0421), took(75), took(7200)
    ('42 ms', '1 min 15 s', '2 h 0 min')
    """
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"


def local_time(at: float, clock: str = "%H:%M:%S") -> str:
    """Return Unix seconds as local date and time."""
    return time.strftime(f"%Y-%m-%d {clock}", time.localtime(at))
