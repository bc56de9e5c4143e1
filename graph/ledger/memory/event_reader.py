"""Look-ups in memory that need no lease, and the standing approvals."""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from planner_executor.graph.errors import AgentError
from planner_executor.graph.ledger.checked_reader import CheckedReader
from planner_executor.graph.ledger.database_name import IN_MEMORY
from planner_executor.graph.ledger.family import Family
from planner_executor.graph.ledger.memory.standing import revoke, standing
from planner_executor.graph.ledger.memory.store import Store
from planner_executor.graph.ledger.reading import Snapshot
from planner_executor.graph.ledger.refusals import not_storable
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.sample import Sample
from planner_executor.graph.record.standing_approval import StandingUse

T = TypeVar("T")


class EventReader(CheckedReader):
    """Reads one store."""

    def __init__(self, store: Store, key: SealKey | None) -> None:
        super().__init__(IN_MEMORY, key)
        self._store = store

    async def step_history(self, likenesses: Sequence[str]) -> Mapping[str, Sequence[Sample]]:
        """Return what like steps of ended runs took."""
        kept = self._store.history
        return await self._do(lambda: {one: list(kept[one]) for one in likenesses if one in kept})

    async def standing(self, tool: str | None = None, named: Collection[str] = ()) -> list[StandingUse]:
        """Return the standing approvals that hold, or held, in any run, the oldest first; see `Ledger`."""
        return await self._do(lambda: standing(self._store, self.name, tool, named))

    async def revoke_standing(self, name: str, by: str) -> bool:
        """End a standing approval; return whether there was one to end."""
        return await self._do(lambda: revoke(self._store, self.name, name, by))

    async def now(self) -> float:
        """Return the time of this machine."""
        return time.time()

    async def _found(self, run: RunKey, after: int) -> Snapshot:
        return await self._do(lambda: self._store.run(self.name, run).found(after))

    async def _other_runs(self, run: RunKey, *, is_fork: bool) -> Family:  # noqa: ARG002  (all are read)
        return await self._do(lambda: self._store.other_runs(run))

    async def _last_number(self, thread: str) -> int:
        return await self._do(lambda: next((run.key.n for run in reversed(self._store.of_thread(thread))), 0))

    async def _latest(self, thread: str, known: RunKey | None, after: int) -> tuple[RunKey, Snapshot] | None:
        def look_up() -> tuple[RunKey, Snapshot] | None:
            run = next(reversed(self._store.of_thread(thread)), None)
            return None if run is None else (run.key, run.found(after if run.key == known else 0))

        return await self._do(look_up)

    async def _content(self, artifact_id: str) -> str | None:
        return await self._do(lambda: self._store.artifacts.get(artifact_id))

    async def _do(self, work: Callable[[], T]) -> T:
        """Run a function on the store, atomically; yields first, so that other tasks and cancellations get a turn."""
        await asyncio.sleep(0)
        with self._store.lock:
            try:
                return work()
            except AgentError:  # some are ValueErrors
                raise
            except ValueError as error:
                raise not_storable(self.name, error) from error
