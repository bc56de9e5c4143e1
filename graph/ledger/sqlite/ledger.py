"""The ledger in an SQLite file."""

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from planner_executor.graph.ledger.lease import PACE, Pace
from planner_executor.graph.ledger.ownership import Held
from planner_executor.graph.ledger.run_store import Changes, Health
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.sqlite.backup import back_up
from planner_executor.graph.ledger.sqlite.changes import changes
from planner_executor.graph.ledger.sqlite.checkpoint_redaction import erase_checkpoints
from planner_executor.graph.ledger.sqlite.database import Database
from planner_executor.graph.ledger.sqlite.health import examine
from planner_executor.graph.ledger.sqlite.pulse import beats_of
from planner_executor.graph.ledger.sqlite.run_search import page
from planner_executor.graph.ledger.sqlite.thread_tables import removed_thread
from planner_executor.graph.ledger.sqlite.vacuum import compact, give_back, places_of
from planner_executor.graph.ledger.sqlite.writers import MakeWriter
from planner_executor.graph.ledger.tables.dialect import IS_THERE
from planner_executor.graph.ledger.tables.known_leases import KnownLeases
from planner_executor.graph.ledger.tables.ledger import SqlLedger
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.record.redaction import Redactor
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.summary import RunSummary


class SqliteLedger(SqlLedger):
    """See `graph.ledger.run_store`. One connection per file and process; the file is created with mode 0600."""

    _file: Database

    def __init__(
        self, path: str | Path, key: SealKey | None = None, pace: Pace = PACE, writer: MakeWriter | None = None
    ) -> None:
        held: Held = {}
        super().__init__(Database(str(path), beats_of(held), pace.beat_s, writer), key, pace, held, KnownLeases())

    async def now(self) -> float:
        """Return the time of this machine."""
        return time.time()

    async def give_back(self) -> bool:
        """Return the space of removed rows to the file system."""
        return await self._file.aside(give_back)

    async def back_up(self, file: Path) -> None:
        """Copy the database, with LangGraph's checkpoints in it, to a new file."""
        await self._file.aside(partial(back_up, target=file))

    async def page(self, wanted: RunFilter) -> list[RunSummary]:
        """Return a page of the index of runs, the latest first."""
        return await self._file.look(partial(page, wanted=wanted))

    async def changes(self, since: str | None = None) -> Changes:
        """Return the runs with new events since a position, and the position now."""
        return await self._file.look(partial(changes, since=since))

    async def wait_for_news(self, most_s: float) -> None:
        """Return after `most_s` seconds: a file tells nobody of what is written."""
        await asyncio.sleep(most_s)

    async def health(self) -> Health:
        """Return how the file is; the events themselves are checked when a run is read."""
        return await self._file.look(lambda db: examine(db, Path(self.name), self._silent_s))

    async def _compacted(self, forms: Sequence[str]) -> list[str]:
        await self._file.aside(compact)
        return await self._file.look(partial(places_of, forms=forms))

    def _erase_checkpoints(self, tx: Transaction, thread: str, redactor: Redactor) -> int:
        return erase_checkpoints(tx, thread, redactor)

    def _remove_checkpoints(self, tx: Transaction, thread: str) -> None:
        if tx.one(IS_THERE, "checkpoints"):
            for statement, values in removed_thread(thread):
                tx.tell(statement, *values)
