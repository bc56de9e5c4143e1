"""SIGTERM pauses like Ctrl-C does."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def on_sigterm(act: Callable[[], object]) -> Iterator[None]:
    """Call `act` when the process is asked to end."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        act()

    before = signal.signal(signal.SIGTERM, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def interrupt() -> None:
    """Do what Ctrl-C does outside of an event loop."""
    raise KeyboardInterrupt
