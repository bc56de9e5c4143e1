"""Handling of Ctrl-C, and of SIGTERM, which pauses a run like Ctrl-C."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(KeyboardInterrupt):
    """The user interrupted a run and has been told how to go on."""


@contextmanager
def ctrl_c_as_exception() -> Iterator[None]:
    """Have Ctrl-C raise KeyboardInterrupt until the end of the block, unless the process ignores it."""
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


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
