"""The writers of this process: one per database file, shared by its users and closed with the last of them."""

import logging
import os
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from planner_executor.graph.errors import LedgerError
from planner_executor.graph.ledger.shared_threads import ByDatabase, SharedThreads, Thread
from planner_executor.graph.ledger.sqlite.busy_timeout import busy_timeout_with
from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.file import create_private, identity, write_ahead
from planner_executor.graph.ledger.sqlite.migration import bring_up
from planner_executor.graph.ledger.sqlite.schema import VERSION, check_version
from planner_executor.graph.ledger.sqlite.transactions import begin_at_once
from planner_executor.graph.ledger.sqlite.writer import Pulse, WriterThread

Result = TypeVar("Result")
LOGGER = logging.getLogger("planner_executor.ledger")


class OpenFile:
    """Connects a writer to a database file, and detects if the file was replaced."""

    def __init__(self, name: str, path: str) -> None:
        self._name, self._path = name, path
        self._busy_timeout, self._waits = busy_timeout_with(name), ""
        self._opened: tuple[int, int] | None = None

    def is_replaced(self) -> bool:
        """Whether the opened file was removed or replaced."""
        if self._opened is None:
            return False
        try:
            return identity(self._path) != self._opened
        except sqlite3.OperationalError:
            return True

    def connect(self) -> Connection:
        """Open the database, or create it."""
        create_private(Path(self._path), self._name)
        wait_s = self._busy_timeout.left_s
        connection = Connection(self._path, wait_s)
        try:
            with self._busy_timeout.tried():
                # First, so that a file of a newer release is left as it is.
                check_version(connection, self._name)
                write_ahead(connection, wait_s)
                if done := bring_up(connection, self._path):
                    LOGGER.warning("%s was migrated to version %s; as it was: %s", self._path, VERSION, done.backup)
            self._opened, self._waits = identity(self._path), ""
        except (sqlite3.Error, LedgerError):
            connection.close()
            raise
        return connection

    def begin(self, connection: Connection, writes: bool) -> None:
        """Begin a transaction, unless the file was replaced: data written to a removed file would be lost."""
        if self._opened is not None and identity(self._path) != self._opened:
            raise sqlite3.OperationalError("the file was replaced by another one")
        if not writes:
            begin_at_once(connection, writes)
            return
        if (waits := self._busy_timeout.pragma) != self._waits:
            connection.execute(waits)
            self._waits = waits
        with self._busy_timeout.tried():
            begin_at_once(connection, writes)


class Writer(Thread, Protocol):
    """Runs functions on a connection; see `graph.ledger.sqlite.writer.WriterThread`."""

    async def run(self, do: Callable[[Connection], Result], *, full: bool = False, writes: bool = True) -> Result:
        """Run `do` in a transaction and return its result after the commit."""


Kind = TypeVar("Kind", bound=Writer, covariant=True)


class SharedWriter(SharedThreads[Pulse], Generic[Kind]):
    """A writer that ends when this object is collected; `is_stale` says if its file is another one by now."""

    def __init__(self, made: Callable[[Pulse], Kind], is_stale: Callable[[], bool] = bool) -> None:
        super().__init__()
        self.is_stale, pulses = is_stale, self.pulses  # the thread must not refer to `self`
        self.thread = made(lambda: [do for pulse in tuple(pulses.values()) for do in pulse()])
        self.end(self.thread)


MakeWriter = Callable[[], Awaitable[SharedWriter[Writer]]]
"""Returns the writer of a database."""

_by_path: ByDatabase[SharedWriter[WriterThread]] = ByDatabase()
_resting: list[Callable[[], None]] = []


def writer_of(name: str, pulse_s: float) -> SharedWriter[WriterThread]:
    """Return this process's writer of a file. Reads the file system; do not call it on the event loop's thread."""
    path = os.path.realpath(name)

    def made() -> SharedWriter[WriterThread]:
        file = OpenFile(name, path)
        return SharedWriter(lambda pulse: WriterThread(file.connect, pulse, pulse_s, file.begin), file.is_replaced)

    return _by_path.get(path, made, lambda one: one.is_stale())


def _rest() -> None:
    """Close connections before a fork: a child that closes an inherited one drops the parent's file locks."""
    _resting.extend(writer.thread.rest() for writer in _by_path)


def _go_on() -> None:
    while _resting:
        _resting.pop()()


os.register_at_fork(before=_rest, after_in_parent=_go_on, after_in_child=_resting.clear)
