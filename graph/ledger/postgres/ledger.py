"""The ledger in a PostgreSQL database."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import psycopg

from planner_executor.graph.errors import InputError, LedgerError
from planner_executor.graph.ledger.family import Family
from planner_executor.graph.ledger.lease import PACE, Pace
from planner_executor.graph.ledger.ownership import Held
from planner_executor.graph.ledger.postgres.changes import changes
from planner_executor.graph.ledger.postgres.database import Database
from planner_executor.graph.ledger.postgres.health import examine
from planner_executor.graph.ledger.postgres.held_leases import HeldLeases
from planner_executor.graph.ledger.postgres.places import places_of
from planner_executor.graph.ledger.postgres.run_search import page
from planner_executor.graph.ledger.postgres.thread_tables import erase_checkpoints, remove_thread
from planner_executor.graph.ledger.run_store import Changes, Health
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.tables.families import IF_DAMAGED, other_runs
from planner_executor.graph.ledger.tables.ledger import SqlLedger
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.record.redaction import Redactor
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.summary import RunSummary


class PostgresLedger(SqlLedger):
    """See `graph.ledger.run_store.RunStore`. The connections to one address are shared in a process."""

    _file: Database

    def __init__(self, address: str, key: SealKey | None = None, pace: Pace = PACE) -> None:
        held: Held = {}
        super().__init__(Database(address, lambda: tuple(held), pace.beat_s), key, pace, held, HeldLeases())

    async def give_back(self) -> bool:
        """Let the server use the space of removed rows again; it returns none to the file system."""
        await self._file.compact()
        return True

    async def back_up(self, file: Path) -> None:  # noqa: ARG002  (the signature of all ledgers)
        """Refuse: there is no file."""
        raise InputError("file", f"{self.name} is backed up by its server's own means, such as pg_dump")

    async def page(self, wanted: RunFilter) -> list[RunSummary]:
        """Return a page of the index of runs, the latest first."""
        return await self._file.look(lambda tx: page(tx, wanted, self._silent_s))

    async def changes(self, since: str | None = None) -> Changes:
        """Return the runs with new events since a position, and the position now."""
        return await self._file.look(lambda tx: changes(tx, since))

    async def wait_for_news(self, most_s: float) -> None:
        """Return when events may have been written, at the latest after `most_s` seconds."""
        await self._file.wait_for_notice(most_s)

    async def health(self) -> Health:
        """Return how the database is; the events themselves are checked when a run is read."""
        return await self._file.look(lambda tx: examine(tx, self._silent_s))

    async def _other_runs(self, run: RunKey, *, is_fork: bool) -> Family:
        try:
            return await super()._other_runs(run, is_fork=is_fork)
        except LedgerError as error:
            if not isinstance(error.__cause__, psycopg.DataError):
                raise
            # The server cannot read the JSON of a damaged event; this names more runs, and their check names the
            # damage.
            return await self._file.look(partial(other_runs, run=run, is_fork=is_fork, query=IF_DAMAGED), run.thread)

    async def _compacted(self, forms: Sequence[str]) -> list[str]:
        await self._file.compact()
        return await self._file.look(lambda tx: places_of(tx, forms))

    def _erase_checkpoints(self, tx: Transaction, thread: str, redactor: Redactor) -> int:
        return erase_checkpoints(tx, thread, redactor)

    def _remove_checkpoints(self, tx: Transaction, thread: str) -> None:
        remove_thread(tx, thread)
