"""How long to wait for a file that somebody else has locked: long enough for ordinary traffic, and once."""

import math
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

BUSY_S = 5.0


class BusyTimeout:
    """What is left of `BUSY_S` for one file, shared by all connections that this process has to it.

    Who waits in vain uses it up for everyone: a lock costs one wait, however many want to write. It comes back as time
    goes by.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._in_vain_at = -math.inf

    @property
    def left_s(self) -> float:
        """How long to wait now, in seconds."""
        return min(BUSY_S, self._now_s() - self._in_vain_at)

    @property
    def pragma(self) -> str:
        """The statement that lets a connection wait for so long."""
        return f"PRAGMA busy_timeout={int(self.left_s * 1000)}"

    @contextmanager
    def tried(self) -> Iterator[None]:
        """Try something that waits for the file; patience is used up where that was in vain."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                self._in_vain_at = self._now_s()
            raise


_with: WeakValueDictionary[str, BusyTimeout] = WeakValueDictionary()


def busy_timeout_with(database: str) -> BusyTimeout:
    """Return this process's patience with a file."""
    return _with.setdefault(database, BusyTimeout())
