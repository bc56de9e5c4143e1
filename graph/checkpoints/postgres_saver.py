"""LangGraph's PostgreSQL saver beside the ledger's tables, with all that a server asks of a checkpointer."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
)
from langgraph.checkpoint.postgres import PostgresSaver as LangGraphSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.postgres.base import PRUNE_DELTA_THREADS_SQL
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.checkpoints.kept_checkpoints import ends_run, keep_checkpoints_from_environment
from planner_executor.graph.checkpoints.saver import NO_NAME, UNREADABLE, strict_serializer
from planner_executor.graph.checkpoints.saver_from_threads import FromThreads
from planner_executor.graph.checkpoints.stored_before import stored_before
from planner_executor.graph.errors import InputError, LedgerUnavailableError
from planner_executor.graph.ledger.address import shown_address
from planner_executor.graph.ledger.postgres.server import DIRECT, LOOK_S, PATIENCE_S, is_pooled, parameters, used
from planner_executor.graph.ledger.postgres.texts import read_text, stored_text
from planner_executor.graph.ledger.postgres.thread_tables import (
    BEFORE,
    COPIED,
    LATEST_FIRST,
    MAKE_ORDER_INDEX,
    ORDER_INDEX,
    ORDERED,
    REMOVED_RUNS,
    THINNED,
)

CONNECTIONS = 4
SETUP_LOCK = 6_911_051_277_381_204_002
SETUP_S = 120.0
STOPPED = "SET LOCAL idle_in_transaction_session_timeout = '30s'"
"""A process that is stopped within a transaction, as by `docker pause`, would lock its rows until it goes on."""
RESTORE = "restore the database from a backup"
KEEP_LATEST = "keep_latest"
STRATEGIES = (KEEP_LATEST, "delete", "delete_all")
"""How a thread's checkpoints may be pruned, by the names that LangGraph and its server use."""
SENDS_OF_THEIR_OWN = 4
"""Checkpoints of a lower version have pending sends that only LangGraph's own method finds."""


@asynccontextmanager
async def open_postgres_saver(address: str) -> AsyncIterator["PostgresSaver"]:
    """Open the checkpointer of a database; its tables are made if they are not there.

    Raises:
        LedgerUnavailableError: The database cannot be used.
    """
    name = shown_address(address)
    with used(name):
        given, pooled = await run_sync(lambda: _set_up(address))
        settings = {**given, "autocommit": True, "prepare_threshold": None, "row_factory": dict_row}
        if pooled:
            settings["cursor_factory"] = OneByOne
        async with AsyncConnectionPool(
            kwargs=settings,
            min_size=1,
            max_size=CONNECTIONS,
            timeout=PATIENCE_S,
            # A server that was restarted leaves connections in the pool that only look open.
            check=AsyncConnectionPool.check_connection,
            open=False,
        ) as pool:
            yield PostgresSaver(pool, name, address, pooled=pooled)


class OneByOne(psycopg.AsyncCursor[DictRow]):
    """A cursor for a pooler: many statements one after the other, in place of a pipeline.

    A pipeline ends with a flush, for which PgBouncer 1.18 lends its client another connection if the answer came first,
    and takes it back never: nothing comes of a flush (decision 66).
    """

    async def executemany(self, query: Any, params_seq: Iterable[Any], *, returning: bool = False) -> None:  # noqa: ARG002  (psycopg's signature)
        """Execute a statement for each of the parameters."""
        for params in params_seq:
            await self.execute(query, params)


class PostgresSaver(FromThreads, AsyncPostgresSaver):
    """LangGraph's saver with connections of its own, a strict serializer and the ledger's error messages.

    The order of checkpoints is that in which they were stored, never that of their ids, which are made from a clock.
    """

    def __init__(self, pool: AsyncConnectionPool[Any], database: str, address: str, *, pooled: bool = False) -> None:
        super().__init__(pool, serde=strict_serializer())
        self._pooled = pooled
        self.address = address
        self.keep_checkpoints = keep_checkpoints_from_environment()
        self._pool, self._database = pool, database
        # Of many runs each waits here as long as others work; the pool's time limit is for a server that is away.
        self._turns = asyncio.Semaphore(CONNECTIONS)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint; see `AsyncPostgresSaver.aget_tuple`."""
        try:
            if get_checkpoint_id(config):
                named = await super().aget_tuple(config)
                return _as_given(named) if named is not None else None
            given = config["configurable"]
            values = (given["thread_id"], given.get("checkpoint_ns", ""))
            where = f"WHERE thread_id = %s AND checkpoint_ns = %s {LATEST_FIRST} LIMIT 1"
            return next(iter(await self._found(where, values)), None)
        except UnicodeEncodeError as error:
            raise InputError("thread_id", NO_NAME) from error
        except UNREADABLE as error:
            what = f"a checkpoint of thread {config['configurable']['thread_id']} cannot be read"
            raise LedgerUnavailableError(self._database, f"{what} ({error}); {RESTORE}") from error

    async def alist(self, config: RunnableConfig | None, **filters: Any) -> AsyncIterator[CheckpointTuple]:
        """List checkpoints, those that were stored last first; see `AsyncPostgresSaver.alist`.

        `before` names a checkpoint: those are listed that were stored before it, none if it is not there.
        """
        found = self._search_where(config, filters.get("filter"))
        where, values = stored_before(filters.get("before"), config, *found, BEFORE)
        for one in await self._found(f"{where} {LATEST_FIRST} LIMIT %s", [*values, filters.get("limit")]):
            yield one

    async def _found(self, where: str, values: Sequence[Any]) -> list[CheckpointTuple]:
        async with self._cursor() as cursor:
            await cursor.execute(self.SELECT_SQL + where, values, binary=True)
            rows = await cursor.fetchall()
        return [_as_given(await self._loaded(row)) for row in rows]

    async def _loaded(self, row: DictRow) -> CheckpointTuple:
        if row["checkpoint"]["v"] < SENDS_OF_THEIR_OWN:
            place = {name: row[name] for name in ("thread_id", "checkpoint_ns", "checkpoint_id")}
            if (found := await super().aget_tuple({"configurable": place})) is not None:
                return found
        return await self._load_checkpoint_tuple(row)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a checkpoint; see `AsyncPostgresSaver.aput`."""
        kept = await super().aput(config, _storable(checkpoint), metadata, new_versions)
        if self.keep_checkpoints == "until_end" and ends_run(config["configurable"]["checkpoint_ns"], checkpoint):
            await self.aprune([config["configurable"]["thread_id"]])
        return kept

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints that runs of the server made, as a rollback does; the ledger's runs stay."""
        async with self._cursor(pipeline=True) as cursor:
            await cursor.execute(REMOVED_RUNS, ([str(run) for run in run_ids],))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread's checkpoints to another thread, as a fork; the ledger is not copied."""
        threads = {"source": str(source_thread_id), "target": str(target_thread_id)}
        if threads["source"] != threads["target"]:
            async with self._cursor(pipeline=True) as cursor:
                for statement in COPIED:
                    await cursor.execute(statement, threads)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Thin threads out to their latest checkpoint, or delete all of them (`delete`, `delete_all`).

        Raises:
            InputError: There is no such strategy, or a thread has a DeltaChannel, which needs its earlier checkpoints.
        """
        if strategy not in STRATEGIES:
            raise InputError("strategy", f"there is no strategy {strategy!r}; there are {', '.join(STRATEGIES)}")
        threads = [str(thread) for thread in thread_ids]
        if strategy != KEEP_LATEST:
            # Nothing of the threads stays, so no checkpoint can miss an earlier one: LangGraph's own way serves.
            await AsyncPostgresSaver.aprune(self, threads, strategy="delete")
            return
        async with self._cursor(pipeline=True) as cursor:
            # All threads are looked at before the first is touched, or some
            # would be thinned out and the call would fail.
            await cursor.execute(PRUNE_DELTA_THREADS_SQL, (threads, threads))
            if found := await cursor.fetchall():
                raise InputError("thread", f"{found[0]['thread_id']} has a DeltaChannel; {KEEP_LATEST} would break it")
            for thread in threads:
                for statement in THINNED:
                    await cursor.execute(statement, {"thread": thread})

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[psycopg.AsyncCursor[DictRow]]:
        """Lend a cursor; `pipeline` is for statements that belong together, which go in one transaction."""
        with used(self._database):
            async with self._turns, self._pool.connection() as connection:
                if not pipeline:
                    async with connection.cursor(binary=True, row_factory=dict_row) as cursor:
                        yield cursor
                    return
                async with (
                    nullcontext() if self._pooled else connection.pipeline(),
                    connection.transaction(),
                    connection.cursor(binary=True, row_factory=dict_row) as cursor,
                ):
                    await cursor.execute(STOPPED)
                    yield cursor


def _storable(checkpoint: Checkpoint) -> Checkpoint:
    """Return a checkpoint whose texts PostgreSQL keeps: LangGraph puts those that are a whole channel into `jsonb`.

    A NUL is written as in the ledger's texts; a lone surrogate becomes `?`, as in every other part of a checkpoint.
    """
    values = checkpoint["channel_values"]
    texts = {name: stored_text(value) for name, value in values.items() if isinstance(value, str)}
    clean = {name: text.encode("utf-8", "replace").decode() for name, text in texts.items()}
    return {**checkpoint, "channel_values": {**values, **clean}}


def _as_given(found: CheckpointTuple) -> CheckpointTuple:
    values = found.checkpoint["channel_values"]
    values.update({name: read_text(value) for name, value in values.items() if isinstance(value, str)})
    return found


def _set_up(address: str) -> tuple[dict[str, Any], bool]:
    """Make LangGraph's tables, and return the parameters of a connection, and whether a pooler answers there.

    LangGraph makes indexes that no transaction may hold, so this is apart from the ledger's tables, on a connection to
    the server itself if it is named. A process that waits must not keep a snapshot, which the index would wait for; so
    it asks again and again.
    """
    given = parameters(address)
    with psycopg.connect(**given, autocommit=True, prepare_threshold=None) as connection:
        pooled = is_pooled(connection)
        if _is_set_up(connection):
            return given, pooled
    direct = {**parameters(os.environ.get(DIRECT) or address), "autocommit": True, "prepare_threshold": None}
    with psycopg.connect(**direct) as holder:
        # Between its statements a transaction of this level keeps no snapshot either.
        holder.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        until_s = time.monotonic() + SETUP_S
        while not _is_made(holder, direct):
            if time.monotonic() > until_s:
                raise LedgerUnavailableError(shown_address(address), "another process has been making tables for long")
            time.sleep(LOOK_S)
    return given, pooled


def _is_made(holder: "psycopg.Connection[Any]", direct: dict[str, Any]) -> bool:
    """Make the tables, unless another process does.

    The lock is that of a transaction: a session's would stay behind in a connection of a pooler (decision 93).
    """
    with holder.transaction():
        row = holder.execute("SELECT pg_try_advisory_xact_lock(%s)", (SETUP_LOCK,)).fetchone()
        if row is None or not row[0]:
            return False
        # A statement with parameters keeps its snapshot until the next one, which therefore has none.
        holder.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        with psycopg.connect(**direct, row_factory=dict_row) as connection:
            LangGraphSaver(connection).setup()
            with connection.transaction():
                if not _has_order(connection):
                    connection.execute(ORDERED)
            connection.execute(MAKE_ORDER_INDEX)
    return True


def _is_set_up(connection: "psycopg.Connection[Any]") -> bool:
    there = connection.execute("SELECT to_regclass('checkpoint_migrations') IS NOT NULL").fetchone()
    if not there or not there[0]:
        return False
    row = connection.execute("SELECT max(v) FROM checkpoint_migrations").fetchone()
    of_langgraph = row is not None and row[0] is not None and row[0] >= len(LangGraphSaver.MIGRATIONS) - 1
    ordered = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (ORDER_INDEX,)).fetchone()
    return of_langgraph and ordered is not None and bool(ordered[0])


def _has_order(connection: "psycopg.Connection[Any]") -> bool:
    query = "SELECT FROM pg_attribute WHERE attrelid = 'checkpoints'::regclass AND attname = 'stored_seq'"
    return connection.execute(query).fetchone() is not None
