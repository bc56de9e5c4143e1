"""The database behind the ledger: one connection on a thread of its own, to a file that others use too."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from graph.errors import LedgerError, LedgerUnavailableError
from graph.ledger.file import advice, create_private, identity, write_ahead
from graph.ledger.leftovers import compact
from graph.ledger.patience import patience_with
from graph.ledger.rows import SCHEMA, add_index, has_tables
from graph.ledger.writer import Pulse, WriterThread, begin_at_once

Result = TypeVar("Result")

IN_MEMORY = ":memory:"


class Database:
    """An SQLite file, or memory; it is opened on first use. For `pulse` see `graph.ledger.writer.WriterThread`.

    Whatever goes wrong with it is a LedgerUnavailableError, or a plain LedgerError where something cannot be stored.
    """

    def __init__(self, name: str, pulse: Pulse, pulse_s: float) -> None:
        self.name = name
        self._patience, self._waits = patience_with(name), ""
        self._opened: tuple[int, int] | None = None
        self._writer = WriterThread(self._connect, pulse, pulse_s, self._begin)

    async def look(self, do: Callable[[sqlite3.Connection], Result]) -> Result:
        """Do what only reads: it needs no turn, so a lock does not hold it up."""
        return await self.do(do, writes=False)

    async def do(
        self, do: Callable[[sqlite3.Connection], Result], *, full: bool = False, writes: bool = True
    ) -> Result:
        """Do work in a transaction, all of it or nothing, and return what it returns; `full` waits for the disk."""
        try:
            return await self._writer.run(do, full=full, writes=writes)
        except sqlite3.Error as error:
            raise LedgerUnavailableError(self.name, advice(error)) from error
        except ValueError as error:
            raise LedgerError(self.name, f"it cannot hold what is to be written: {error}") from error

    async def compact(self) -> None:
        """Write the file anew; not on the writer's thread, which gives the heartbeats."""
        if self.name == IN_MEMORY:
            return
        try:
            await asyncio.to_thread(compact, self.name)
        except sqlite3.Error as error:
            raise LedgerUnavailableError(self.name, advice(error)) from error

    async def close(self) -> None:
        """Let go of the file; a later call opens it again."""
        await self._writer.close()

    def _connect(self) -> sqlite3.Connection:
        if self.name != IN_MEMORY:
            create_private(Path(self.name))
        wait_s = self._patience.left_s
        connection = sqlite3.connect(self.name, isolation_level=None, timeout=wait_s)
        connection.text_factory = _text
        try:
            with self._patience.tried():
                write_ahead(connection, wait_s)
                if not has_tables(connection):
                    connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
                add_index(connection)
            self._opened, self._waits = None if self.name == IN_MEMORY else identity(self.name), ""
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _begin(self, connection: sqlite3.Connection, writes: bool) -> None:
        """Begin a transaction in the file that was opened: what is written to one that was removed is lost."""
        if self._opened is not None and identity(self.name) != self._opened:
            raise sqlite3.OperationalError("the file was replaced by another one")
        if (waits := self._patience.pragma) != self._waits:
            connection.execute(waits)
            self._waits = waits
        with self._patience.tried():
            begin_at_once(connection, writes)


def _text(content: bytes) -> str:
    """Read text that may be damaged, so that the check of its event names it."""
    return content.decode("utf-8", "surrogateescape")
