"""Handling of SIGTERM, which pauses a run like Ctrl-C."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def on_sigterm(act: Callable[[], object]) -> Iterator[None]:
    """Call `act` on SIGTERM until the end of the block."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        act()

    before = signal.signal(signal.SIGTERM, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def interrupt() -> None:
    """Raise KeyboardInterrupt, as Ctrl-C does outside of an event loop."""
    raise KeyboardInterrupt
