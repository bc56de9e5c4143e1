"""Local time, for people."""

import time


def local_time(at: float, clock: str = "%H:%M:%S") -> str:
    """Return Unix seconds as local date and time."""
    return time.strftime(f"%Y-%m-%d {clock}", time.localtime(at))
