"""The ledger's database: a connection on its own thread, to a file that other processes use too."""

import asyncio
import sqlite3
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from planner_executor.graph.errors import AgentError, LedgerError, LedgerUnavailableError
from planner_executor.graph.ledger.shared_threads import ThreadsUser
from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.file import advice, used
from planner_executor.graph.ledger.sqlite.writer import Pulse
from planner_executor.graph.ledger.sqlite.writers import MakeWriter, SharedWriter, Writer, writer_of

Result = TypeVar("Result")


class Database(ThreadsUser[SharedWriter[Writer]]):
    """An SQLite file; it is opened on first use. For `pulse` see `graph.ledger.sqlite.writer.WriterThread`.

    All users of a file in this process share one writer, which ends with the last of them; `pulse` must therefore not
    refer to its user. Errors of the database are raised as LedgerUnavailableError, or as a plain LedgerError if a value
    cannot be stored.
    """

    def __init__(self, name: str, pulse: Pulse, pulse_s: float, writer: MakeWriter | None = None) -> None:
        self.name = name
        self._pulse, self._writer = pulse, writer or partial(asyncio.to_thread, writer_of, name, pulse_s)

    async def look(self, do: Callable[[Connection], Result], thread: str | None = None) -> Result:
        """Run a read-only function in a transaction; it does not wait for writers."""
        return await self.do(do, thread, writes=False)

    async def do_behind_all(self, do: Callable[[Connection], object]) -> None:
        """Run a function in a transaction behind all the work that was begun before."""
        await self.do(do)

    async def do(
        self,
        do: Callable[[Connection], Result],
        thread: str | None = None,  # noqa: ARG002  (one thread does all work in the order of the calls)
        *,
        full: bool = False,
        writes: bool = True,
    ) -> Result:
        """Run a function in an atomic transaction and return its result; `full` waits for the disk."""
        try:
            writer = self._threads or self._use(await self._writer(), self._pulse)
            return await writer.thread.run(do, full=full, writes=writes)
        except sqlite3.Error as error:
            raise LedgerUnavailableError(self.name, advice(error)) from error
        except AgentError:  # some are ValueErrors
            raise
        except ValueError as error:
            raise LedgerError(self.name, f"cannot store the value: {error}") from error

    async def aside(self, work: Callable[[str], Result]) -> Result:
        """Work on the file on another thread than the writer's, which must go on with the heartbeats."""
        with used(self.name):
            return await asyncio.to_thread(work, self.name)
