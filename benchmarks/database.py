"""The database of a run: LangGraph's checkpointer and, beside it, our ledger."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from planner_executor.graph.checkpoints.checkpoint import open_checkpointer
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.ledger.run_store import RunStore


@dataclass(frozen=True)
class Database:
    """Both, open; a ledger that nobody uses costs nothing."""

    saver: BaseCheckpointSaver[Any]
    ledger: RunStore


OpenDatabase = Callable[[Path], AbstractAsyncContextManager[Database]]


@asynccontextmanager
async def open_database(place: Path | str) -> AsyncIterator[Database]:
    """Open a file, which is created if there is none, or the address of a PostgreSQL database."""
    ledger = open_ledger(place)
    try:
        async with open_checkpointer(place) as saver:
            yield Database(saver, ledger)
    finally:
        await ledger.close()


@asynccontextmanager
async def open_with_langgraphs_saver(path: Path) -> AsyncIterator[Database]:
    """Open a file with LangGraph's own saver, which lays it out before our ledger opens it."""
    ledger = open_ledger(path)
    try:
        async with aiosqlite.connect(path) as connection:
            serde = JsonPlusSerializer(allowed_msgpack_modules=None)
            yield Database(AsyncSqliteSaver(connection, serde=serde), ledger)
    finally:
        await ledger.close()


def size_bytes(path: Path) -> int:
    """Return how large a closed database is, its write-ahead log folded in."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))
