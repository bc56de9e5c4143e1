"""LangGraph's SQLite saver with small rows and few of them; it reads the rows of LangGraph's own saver.

A run of one step would leave 19 KB behind with LangGraph's own saver: each checkpoint names a version for each key of
the state three times over, and a node's result is kept twice.
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import RESUME
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.checkpoint.sqlite.utils import load_pending_writes, pending_writes_sql, search_where

from planner_executor.graph.checkpoints.kept_checkpoints import RUN_KEYS
from planner_executor.graph.checkpoints.stored_before import stored_before
from planner_executor.graph.ledger.packed_checkpoint import DICTIONARIES, NEWEST, packed_cell, unpacked_cell
from planner_executor.graph.ledger.sqlite.thread_tables import BEFORE, LATEST, ORDER_INDEX

Place = tuple[str, str, str]
"""A checkpoint: thread, namespace, id."""
Writes = Sequence[tuple[str, Any]]
Put = tuple[Writes, str, str]
Row = Any

START = "__start__"

HELD = 64
"""Number of checkpoints whose node results are held in memory."""

COLUMNS = "thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata"
PUT = f"""INSERT INTO checkpoints ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id) DO UPDATE SET
    parent_checkpoint_id = excluded.parent_checkpoint_id, type = excluded.type,
    checkpoint = excluded.checkpoint, metadata = excluded.metadata"""
"""A checkpoint that is stored once more keeps its place; `INSERT OR REPLACE` would make it the latest."""
PUT_WRITE = (
    "INSERT OR {} INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
SELECT = f"SELECT {COLUMNS} FROM checkpoints"
NAMED = "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
PENDING = pending_writes_sql(has_task_path=True)


class PackedSerializer(JsonPlusSerializer):
    """A strict serializer whose larger texts are packed: it revives no type but LangChain's messages and plain data."""

    def __init__(self) -> None:
        super().__init__(pickle_fallback=False, allowed_msgpack_modules=None)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Return the kind and the bytes of an object."""
        kind, data = super().dumps_typed(obj)
        return (NEWEST, packed_cell(data)) if kind == "msgpack" and len(data) >= LEAST_BYTES else (kind, data)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Return the object of such bytes."""
        kind, content = data
        return super().loads_typed(("msgpack", unpacked_cell(kind, content)) if kind in DICTIONARIES else data)


LEAST_BYTES = 64
"""Shorter values are kept unchanged."""


class LeanSaver(AsyncSqliteSaver):
    """Stores checkpoints and interrupts; results of our nodes are stored once, by the checkpoint that follows.

    The order of checkpoints is that in which they were stored, never that of their ids, which are made from a clock.

    If the process dies between the two, the node runs again and finds its work in the ledger. LangGraph keeps what a
    node returned since another node of the same step may fail or wait. If one does, it is kept here too.
    """

    def __init__(self, connection: Any) -> None:
        super().__init__(connection, serde=PackedSerializer())
        self._returned: OrderedDict[Place, list[Put]] = OrderedDict()
        self._stopped: OrderedDict[Place, set[str]] = OrderedDict()

    async def setup(self) -> None:
        """Make LangGraph's tables, and the index of the order in which checkpoints were stored."""
        if self.is_setup:
            return
        await super().setup()
        async with self.lock:
            await self.conn.execute(ORDER_INDEX)
            await self.conn.commit()

    def get_next_version(self, current: Any, channel: None) -> str:  # noqa: ARG002  (LangGraph's signature)
        """Return the version after the current one; without the random digits that LangGraph's own savers add."""
        number = 0 if current is None else current if isinstance(current, int) else int(current.split(".")[0])
        return f"{number + 1:032}"

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint; see `AsyncSqliteSaver.aget_tuple`."""
        await self.setup()
        given = config["configurable"]
        thread, namespace = str(given["thread_id"]), given.get("checkpoint_ns", "")
        named = get_checkpoint_id(config)
        values = (thread, namespace, named) if named else (thread, namespace)
        found = await self._found(NAMED if named else LATEST, values)
        return self._tuple(*found[0], config if named else None) if found else None

    async def alist(self, config: RunnableConfig | None, **filters: Any) -> AsyncIterator[CheckpointTuple]:
        """List checkpoints, those that were stored last first; see `AsyncSqliteSaver.alist`.

        `before` names a checkpoint: those are listed that were stored before it, none if it is not there.
        """
        await self.setup()
        found = search_where(config, filters.get("filter"))
        where, values = stored_before(filters.get("before"), config, *found, BEFORE)
        limit = filters.get("limit")
        latest_first = f"{where} ORDER BY rowid DESC LIMIT ?"
        for row, pending in await self._found(latest_first, [*values, -1 if limit is None else limit]):
            yield self._tuple(row, pending)

    async def _found(self, where: str, values: Sequence[Any]) -> list[tuple[Row, list[Row]]]:
        """Return rows of checkpoints, each with the rows of its pending writes."""
        async with self.lock:
            rows = list(await self.conn.execute_fetchall(f"{SELECT} {where}", values))
            return [(row, list(await self.conn.execute_fetchall(PENDING, tuple(row[:3])))) for row in rows]

    def _tuple(self, row: Row, pending: Sequence[Row], config: RunnableConfig | None = None) -> CheckpointTuple:
        thread, namespace, checkpoint_id, parent, kind, data, metadata = row
        return CheckpointTuple(
            config or _config(thread, namespace, checkpoint_id),
            self.serde.loads_typed((kind, data)),
            json.loads(metadata) if metadata is not None else {},
            _config(thread, namespace, parent) if parent else None,
            load_pending_writes(pending, self.serde),
        )

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,  # noqa: ARG002  (LangGraph's signature)
    ) -> RunnableConfig:
        """Keep a checkpoint; see `AsyncSqliteSaver.aput`."""
        await self.setup()
        given = config["configurable"]
        thread, namespace, parent = str(given["thread_id"]), given["checkpoint_ns"], given.get("checkpoint_id")
        kind, data = self.serde.dumps_typed(checkpoint)
        about = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False).encode("utf-8", "ignore")
        row = (thread, namespace, checkpoint["id"], parent, kind, data, about)
        async with self.lock:
            await self._write(PUT, [row])
        # The checkpoint has what these nodes returned: it need not be kept a second time.
        for held in (self._returned, self._stopped):
            held.pop((thread, namespace, str(parent)), None)
        return _config(given["thread_id"], namespace, checkpoint["id"])

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store a node's interrupt or error, and then the results of the nodes beside it."""
        place = _place(config)
        if _comes_again(writes, task_path):
            # If another node beside this one has stopped, no checkpoint follows soon that would have the result.
            if not self._stopped.get(place, set()) - {task_id}:
                _bounded(self._returned, place, list).append((writes, task_id, task_path))
                return
        elif any(channel in WRITES_IDX_MAP and channel != RESUME for channel, _ in writes):
            _bounded(self._stopped, place, set).add(task_id)
            for returned in self._returned.pop(place, ()):
                await self.put_writes_now(place, *returned)
        await self.put_writes_now(place, writes, task_id, task_path)

    async def put_writes_now(self, place: Place, writes: Writes, task_id: str, task_path: str) -> None:
        """Store a node's result without waiting for the checkpoint that follows."""
        await self.setup()
        # As LangGraph's own saver: an error or interrupt takes the place of an earlier one, a node's result stays as
        # first written.
        again = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        rows = [
            (*place, task_id, task_path, WRITES_IDX_MAP.get(channel, at), channel, *self.serde.dumps_typed(value))
            for at, (channel, value) in enumerate(writes)
        ]
        async with self.lock:
            await self._write(PUT_WRITE.format("REPLACE" if again else "IGNORE"), rows)

    async def _write(self, query: str, rows: Sequence[Sequence[Any]]) -> None:
        """Write rows in one transaction; its parts wait for nothing but their turn on the connection's thread."""
        # One statement for all rows: of several, the later ones would be kept if only the first found the file locked.
        await asyncio.gather(self.conn.executemany(query, rows), self.conn.commit())


def _comes_again(writes: Sequence[tuple[str, Any]], task_path: str) -> bool:
    """Whether this comes from a node that may run again: one of ours, which names its run, or LangGraph's first."""
    names = next((value for channel, value in writes if channel == "run"), None)
    return task_path.endswith(START) or (isinstance(names, dict) and names.keys() >= RUN_KEYS)


def _bounded(held: "OrderedDict[Place, Any]", place: Place, make: type) -> Any:
    """Return the results held for a checkpoint; the oldest entries are evicted."""
    found = held.setdefault(place, make())
    while len(held) > HELD:
        held.popitem(last=False)
    return found


def _place(config: RunnableConfig) -> Place:
    given = config["configurable"]
    return str(given["thread_id"]), str(given["checkpoint_ns"]), str(given["checkpoint_id"])


def _config(thread: Any, namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}}
