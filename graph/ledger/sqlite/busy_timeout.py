"""The time to wait for a locked file: long enough for ordinary traffic, and only once per process."""

import math
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

BUSY_S = 5.0


class BusyTimeout:
    """The remaining part of `BUSY_S` for one file, shared by all connections of this process to it.

    One timeout uses it up for all connections, so a lock costs one wait however many writers there are. It recovers at
    one second per second, and at once when somebody gets the lock: then it had only changed hands too often.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._in_vain_at = -math.inf

    @property
    def left_s(self) -> float:
        """Remaining time to wait, in seconds."""
        return min(BUSY_S, self._now_s() - self._in_vain_at)

    @property
    def pragma(self) -> str:
        """The statement that sets this timeout on a connection."""
        return f"PRAGMA busy_timeout={int(self.left_s * 1000)}"

    @contextmanager
    def tried(self) -> Iterator[None]:
        """Run a block that takes the lock; a timeout in it uses up the remaining time."""
        try:
            yield
        except sqlite3.OperationalError as error:
            # The last byte: SQLite says in the others why it is busy.
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                self._in_vain_at = self._now_s()
            raise
        else:
            self._in_vain_at = -math.inf


_with: WeakValueDictionary[str, BusyTimeout] = WeakValueDictionary()


def busy_timeout_with(database: str) -> BusyTimeout:
    """Return this process's timeout for a file."""
    return _with.setdefault(database, BusyTimeout())
