"""What befalls a run at one of its boundaries: each is called with a boundary's name whenever one is passed."""

import asyncio
import os
import signal
import sqlite3
import threading
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path


def is_within(boundary: str, effects: Collection[str]) -> bool:
    """Whether a boundary lies within one of these tools, before its effect."""
    when, kind, *_ = boundary.split()
    return when == "before" and kind in effects


class Passed:
    """Nothing; `names` are the boundaries that were passed."""

    def __init__(self, at: int = 0) -> None:
        self.names: list[str] = []
        self._at = at

    def __call__(self, name: str) -> None:
        """Pass a boundary."""
        self.names.append(name)
        if self._at and len(self.names) >= self._at:
            self.strike()

    def strike(self) -> None:
        """Do it, at the `at`-th boundary and at each one after it."""


class Killed(Passed):
    """The process is killed."""

    def strike(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class Frozen(Passed):
    """The process is stopped, once, and goes on when it is told to: when there is the file `awake`.

    The order of boundaries differs from run to run. So a stop that would hit the inside of an effect, which is not
    protected, waits for a later boundary: before one of the tools in `effects`, or on a thread beside the loop's, on
    which tools run.
    """

    def __init__(self, at: int, awake: Path, effects: Collection[str]) -> None:
        super().__init__(at)
        self._awake, self._effects, self._thread = awake, effects, threading.get_ident()

    def __call__(self, name: str) -> None:
        if is_within(name, self._effects) or threading.get_ident() != self._thread:
            self.names.append(name)
        else:
            super().__call__(name)

    def strike(self) -> None:
        if not self._awake.exists():
            os.kill(os.getpid(), signal.SIGSTOP)
            while not self._awake.exists():  # the signal may come a moment later
                pass


class Cancelled(Passed):
    """The task that drives the run is cancelled, once."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self._task = asyncio.current_task()

    def strike(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._task = None


class Locked(Passed):
    """Somebody else locks the database, as soon as the run itself does not write."""

    def __init__(self, at: int, database: Path) -> None:
        super().__init__(at)
        self._locked = False
        self._other = sqlite3.connect(database, isolation_level=None, timeout=0, check_same_thread=False)

    def strike(self) -> None:
        if not self._locked:
            with suppress(sqlite3.OperationalError):
                self._other.execute("BEGIN IMMEDIATE")
                self._locked = True

    def release(self) -> None:
        """Let go of the database."""
        self._other.close()
