"""Look-ups in a database that need no lease, and the standing approvals."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from planner_executor.graph.ledger.checked_reader import CheckedReader
from planner_executor.graph.ledger.family import Family
from planner_executor.graph.ledger.reading import Snapshot
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.tables.families import other_runs
from planner_executor.graph.ledger.tables.run_names import last_number
from planner_executor.graph.ledger.tables.run_rows import found_of, latest_of, run_id_of
from planner_executor.graph.ledger.tables.standing import revoke, standing
from planner_executor.graph.ledger.tables.transaction import Database, Transaction
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.sample import Sample
from planner_executor.graph.record.standing_approval import StandingUse


class EventReader(CheckedReader):
    """Reads one database."""

    def __init__(self, file: Database, key: SealKey | None) -> None:
        super().__init__(file.name, key)
        self._file = file

    async def step_history(self, likenesses: Sequence[str]) -> Mapping[str, Sequence[Sample]]:
        """Return what like steps of ended runs took."""
        return await self._file.look(lambda tx: tx.samples(likenesses))

    async def standing(self, tool: str | None = None, named: Collection[str] = ()) -> list[StandingUse]:
        """Return the standing approvals that hold, or held, in any run; see `Ledger`."""
        return await self._file.look(lambda tx: standing(tx, self.name, tool, named))

    async def revoke_standing(self, name: str, by: str) -> bool:
        """End a standing approval; return whether there was one to end."""
        return await self._file.do(lambda tx: revoke(tx, self.name, name, by), full=True)

    async def now(self) -> float:
        """Return the time of the database's clock."""
        return await self._file.look(lambda tx: tx.now())

    async def _found(self, run: RunKey, after: int) -> Snapshot:
        return await self._file.look(partial(self._look_up, run=run, after=after), run.thread)

    async def _other_runs(self, run: RunKey, *, is_fork: bool) -> Family:
        return await self._file.look(partial(other_runs, run=run, is_fork=is_fork), run.thread)

    async def _last_number(self, thread: str) -> int:
        return await self._file.look(lambda tx: last_number(tx, thread), thread)

    async def _latest(self, thread: str, known: RunKey | None, after: int) -> tuple[RunKey, Snapshot] | None:
        return await self._file.look(lambda tx: latest_of(tx, self.name, thread, known, after), thread)

    async def _content(self, artifact_id: str) -> str | None:
        query = "SELECT content FROM ledger_artifacts WHERE id = %s"
        row = await self._file.look(lambda tx: tx.one(query, artifact_id))
        return None if row is None else row[0]

    def _look_up(self, tx: Transaction, run: RunKey, after: int) -> Snapshot:
        return found_of(tx, self.name, run_id_of(tx, self.name, run), after)
