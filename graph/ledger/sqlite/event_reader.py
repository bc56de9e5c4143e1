"""Look-ups in an SQLite file that need no lease, and the standing approvals."""

import sqlite3
import time
from collections.abc import Collection, Mapping, Sequence
from functools import partial

from planner_executor.graph.ledger.checked_reader import CheckedReader
from planner_executor.graph.ledger.family import Family
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.ledger.reading import Snapshot
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.sqlite.database import Database
from planner_executor.graph.ledger.sqlite.family_table import other_runs
from planner_executor.graph.ledger.sqlite.history_table import history
from planner_executor.graph.ledger.sqlite.queries import found_of, last_number, run_id_of
from planner_executor.graph.ledger.sqlite.standing_table import give, revoke, standing
from planner_executor.graph.record.sample import Sample
from planner_executor.graph.record.standing_approval import StandingApproval, StandingUse


class EventReader(CheckedReader):
    """Reads one database."""

    def __init__(self, file: Database, name: str, key: SealKey | None) -> None:
        super().__init__(name, key)
        self._file = file

    async def step_history(self, likenesses: Sequence[str]) -> Mapping[str, Sequence[Sample]]:
        """Return what like steps of ended runs took."""
        return await self._file.look(lambda db: history(db, likenesses))

    async def give_standing(self, approval: StandingApproval) -> None:
        """Keep a standing approval that holds in any run."""
        await self._file.do(lambda db: give(db, approval), full=True)

    async def standing(self, tool: str | None = None, named: Collection[str] = ()) -> list[StandingUse]:
        """Return the standing approvals that hold, or held, in any run; see `Ledger`."""
        return await self._file.look(lambda db: standing(db, self.name, tool, named))

    async def revoke_standing(self, name: str, by: str) -> bool:
        """End a standing approval; return whether there was one to end."""
        return await self._file.do(lambda db: revoke(db, self.name, name, by), full=True)

    async def now(self) -> float:
        """Return the time of this machine."""
        return time.time()

    async def _found(self, run: RunKey, after: int) -> Snapshot:
        return await self._file.look(lambda db: found_of(db, run_id_of(db, run), after))

    async def _other_runs(self, run: RunKey, *, is_fork: bool) -> Family:
        return await self._file.look(partial(other_runs, run=run, is_fork=is_fork))

    async def _last_number(self, thread: str) -> int:
        return await self._file.look(partial(last_number, thread=thread)) or 0

    async def _latest(self, thread: str, known: RunKey | None, after: int) -> tuple[RunKey, Snapshot] | None:
        def look_up(db: sqlite3.Connection) -> tuple[RunKey, Snapshot] | None:
            run = RunKey(thread, last_number(db, thread) or 0)
            return (run, found_of(db, run_id_of(db, run), after if run == known else 0)) if run.n else None

        return await self._file.look(look_up)

    async def _content(self, artifact_id: str) -> str | None:
        query = "SELECT content FROM ledger_artifacts WHERE id = ?"
        row = await self._file.look(lambda db: db.execute(query, (artifact_id,)).fetchone())
        return None if row is None else row[0]
