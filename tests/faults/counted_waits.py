"""How often a locked file is waited for, counted on a clock that only a test moves."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planner_executor.graph.ledger.sqlite import busy_timeout


class CountedWaits(busy_timeout.BusyTimeout):
    """A file's timeout; `in_vain_s` are the waits that ended with the file still locked, those of no time left out."""

    def __init__(self) -> None:
        self.in_vain_s: list[float] = []
        self._now = 0.0
        super().__init__(lambda: self._now)

    @classmethod
    def of(cls, database: Path) -> "CountedWaits":
        """Count what this process waits for a file that it has not opened yet."""
        busy_timeout._with[str(database)] = counted = cls()
        return counted

    def recover(self) -> None:
        """Let as much time go by as the next wait may take."""
        self._now += busy_timeout.BUSY_S

    @contextmanager
    def tried(self) -> Iterator[None]:
        left_s = self.left_s
        try:
            with super().tried():
                yield
        except sqlite3.OperationalError:
            self.in_vain_s += [left_s] if left_s else []
            raise
