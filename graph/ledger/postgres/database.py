"""The ledger's database on a PostgreSQL server that other processes use too."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

import psycopg

from planner_executor.graph.errors import AgentError, LedgerError, LedgerUnavailableError
from planner_executor.graph.ledger.address import shown_address
from planner_executor.graph.ledger.postgres.pulse import Pulse
from planner_executor.graph.ledger.postgres.server import Server, advice, used
from planner_executor.graph.ledger.postgres.sharing import Shared, shared
from planner_executor.graph.ledger.postgres.transaction import Transaction
from planner_executor.graph.ledger.postgres.workers import ASIDE, LANES, lane_of
from planner_executor.graph.ledger.shared_threads import ThreadsUser
from planner_executor.graph.ledger.tables.schema import REDACTED

Result = TypeVar("Result")


class Database(ThreadsUser[Shared]):
    """A database; connections are opened on first use. `pulse` returns the leases to send heartbeats for.

    All users of an address in this process share its threads, which end with the last of them; `pulse` must therefore
    not refer to its user. Errors of the database are raised as LedgerUnavailableError, or as a plain LedgerError if a
    value cannot be stored.
    """

    def __init__(self, address: str, pulse: Pulse, pulse_s: float) -> None:
        self.name = shown_address(address)
        self._address, self._pulse, self._pulse_s = address, pulse, pulse_s

    async def look(self, do: Callable[[Transaction], Result], thread: str | None = None) -> Result:
        """Run a read-only function in a transaction, which sees one moment."""
        return await self.do(do, thread, writes=False)

    async def do(
        self, do: Callable[[Transaction], Result], thread: str | None = None, *, full: bool = False, writes: bool = True
    ) -> Result:
        """Run a function in an atomic transaction and return its result; `full` waits for the disk.

        Work on a thread of runs is done in the order of the calls. After a lost connection the function may run again,
        if it is known that nothing of it was committed.
        """
        return await self._do(do, ASIDE if thread is None else lane_of(thread), full, writes)

    async def do_behind_all(self, do: Callable[[Transaction], object]) -> None:
        """Run a function in a transaction behind all the work that was begun before, on whatever thread."""
        # Each lane is done in order: what is last in all of them comes behind everything.
        for lane in range(LANES):
            await self._do(do, lane, full=False, writes=True)

    async def _do(self, do: Callable[[Transaction], Result], lane: int, full: bool, writes: bool) -> Result:
        try:
            return await self._using().workers.run(do, lane, full=full, writes=writes)
        except psycopg.DataError as error:
            raise LedgerError(self.name, f"cannot store the value: {advice(error)}") from error
        except psycopg.Error as error:
            raise LedgerUnavailableError(self.name, advice(error)) from error
        except AgentError:  # some are ValueErrors
            raise
        except ValueError as error:
            raise LedgerError(self.name, f"cannot store the value: {error}") from error

    async def wait_for_notice(self, most_s: float) -> None:
        """Return when something may have been written, at the latest after `most_s` seconds."""
        await self._using().notices.wait(most_s)

    async def compact(self) -> None:
        """Let the server forget the rows that were replaced, on a connection that is in no transaction."""
        with used(self.name):
            await asyncio.to_thread(_forget, self._address)

    def _using(self) -> Shared:
        return self._threads or self._use(shared(self._address, self._pulse_s), self._pulse)


def _forget(address: str) -> None:
    with Server(address).connect() as connection:
        for table in REDACTED:
            connection.execute(f"VACUUM {table}")
