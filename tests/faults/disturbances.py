"""What befalls a run at one of its boundaries: each is called with a boundary's name whenever one is passed."""

import asyncio
import os
import signal
import sqlite3
from contextlib import suppress
from pathlib import Path


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
    """The process is stopped, once, and goes on when it is told to: when there is the file `awake`."""

    def __init__(self, at: int, awake: Path) -> None:
        super().__init__(at)
        self._awake = awake

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
