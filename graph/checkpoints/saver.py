"""LangGraph's SQLite saver in the ledger's file, with all that a server asks of a checkpointer."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from planner_executor.graph.checkpoints.kept_checkpoints import ends_run, keep_checkpoints_from_environment
from planner_executor.graph.checkpoints.lean_saver import LeanSaver, Place, Writes
from planner_executor.graph.checkpoints.saver_from_threads import FromThreads
from planner_executor.graph.errors import InputError, LedgerUnavailableError
from planner_executor.graph.ledger.sqlite.busy_timeout import busy_timeout_with
from planner_executor.graph.ledger.sqlite.file import RESTORE, used
from planner_executor.graph.ledger.sqlite.thread_tables import (
    Statement,
    copied_thread,
    removed_runs,
    removed_thread,
    thinned_thread,
)

UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, NotImplementedError)
"""Errors that LangGraph raises on a damaged row."""
NO_NAME = "it holds half a surrogate pair; name the thread in clean text"
PRUNING: Mapping[str, Callable[[str], Sequence[Statement]]] = {
    "keep_latest": thinned_thread,
    "delete": removed_thread,
    "delete_all": removed_thread,
}
"""How a thread's checkpoints may be pruned, by the names that LangGraph and its server use."""


def strict_serializer() -> JsonPlusSerializer:
    """Return a serializer that revives no type but LangChain's messages and plain data."""
    return JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)


class SharingSaver(FromThreads, LeanSaver):
    """LangGraph's saver in the ledger's file: shares its busy timeout and its error messages."""

    def __init__(self, connection: aiosqlite.Connection, database: str) -> None:
        super().__init__(connection)
        self.keep_checkpoints = keep_checkpoints_from_environment()
        self._database, self._patience = database, busy_timeout_with(database)
        self._turns, self._waits = asyncio.Lock(), ""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint; see `AsyncSqliteSaver.aget_tuple`."""
        try:
            with used(self._database):
                found = await super().aget_tuple(config)
            if found is not None and "channel_values" not in found.checkpoint:
                raise TypeError("it holds no state")
        except UnicodeEncodeError as error:
            raise InputError("thread_id", NO_NAME) from error
        except UNREADABLE as error:
            what = f"a checkpoint of thread {config['configurable']['thread_id']} cannot be read"
            raise LedgerUnavailableError(self._database, f"{what} ({error}); {RESTORE}") from error
        return found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a checkpoint; see `AsyncSqliteSaver.aput`."""
        async with self._turn():
            kept = await super().aput(config, checkpoint, metadata, new_versions)
        if self.keep_checkpoints == "until_end" and ends_run(config["configurable"]["checkpoint_ns"], checkpoint):
            await self.aprune([config["configurable"]["thread_id"]])
        return kept

    async def put_writes_now(self, place: Place, writes: Writes, task_id: str, task_path: str) -> None:
        """Keep the required writes of a node; see `LeanSaver.aput_writes`."""
        async with self._turn():
            await super().put_writes_now(place, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread's checkpoints; its runs stay in the ledger."""
        await self._change(removed_thread(str(thread_id)))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints that runs of the server made, as a rollback does; the ledger's runs stay."""
        await self._change(removed_runs([str(run) for run in run_ids]))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread's checkpoints to another thread, as a fork; the ledger is not copied."""
        if str(source_thread_id) != str(target_thread_id):
            await self._change(copied_thread(str(source_thread_id), str(target_thread_id)))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Thin threads out to their latest checkpoint, or delete all of them (`delete`, `delete_all`).

        Raises:
            InputError: There is no such strategy.
        """
        if strategy not in PRUNING:
            raise InputError("strategy", f"there is no strategy {strategy!r}; there are {', '.join(PRUNING)}")
        for thread in thread_ids:
            await self._change(PRUNING[strategy](str(thread)))

    async def _change(self, statements: Sequence[Statement]) -> None:
        """Execute statements in one transaction."""
        await self.setup()
        async with self._turn(), self.lock:
            try:
                for statement, values in statements:
                    await self.conn.execute(statement, values)
                await self.conn.commit()
            # Cancelled in mid-write: the connection is shared, so nothing half done may stay on it.
            except asyncio.CancelledError:
                await self.conn.rollback()
                raise

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Write as patiently as the ledger does, and leave nothing half written."""
        async with self._turns:
            with used(self._database):
                # Only if it has changed: it costs a statement.
                if (waits := self._patience.pragma) != self._waits:
                    await self.conn.execute(waits)
                    self._waits = waits
                try:
                    with self._patience.tried():
                        yield
                # A failed write would leave a transaction open, and the next one would be part of it.
                except sqlite3.Error:
                    await self.conn.rollback()
                    raise
