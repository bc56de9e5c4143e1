"""Where a graph keeps its records: the checkpointer, and the ledger that belongs to it."""

import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from graph.calls.threads import in_thread
from graph.errors import ConfigError, LedgerUnavailableError
from graph.ledger.file import create_private
from graph.ledger.protocol import Ledger
from graph.ledger.sqlite import SqliteLedger

DATABASE = "planner-executor.db"
IN_MEMORY = ":memory:"
_in_memory: WeakKeyDictionary[Any, SqliteLedger] = WeakKeyDictionary()


def strict_serializer() -> JsonPlusSerializer:
    """Return a serializer that revives no type but LangChain's messages and plain data."""
    return JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)


def database() -> str:
    """Return the file that records are kept in where nobody names one."""
    return os.environ.get("PLANNER_EXECUTOR_DB") or DATABASE


@asynccontextmanager
async def studio_checkpointer() -> AsyncIterator[AsyncSqliteSaver]:
    """Open the checkpointer of the LangGraph server, in the ledger's file; `langgraph.json` names this function."""
    async with open_checkpointer(database()) as saver:
        yield saver


@asynccontextmanager
async def open_checkpointer(path: str | Path) -> AsyncIterator[AsyncSqliteSaver]:
    """Open the SQLite checkpointer of a file, which is created with mode 0600.

    Raises:
        LedgerUnavailableError: The file cannot be opened.
    """
    await in_thread(lambda: create_private(Path(path)))
    try:
        async with aiosqlite.connect(str(path)) as connection:
            saver = AsyncSqliteSaver(connection, serde=strict_serializer())
            await saver.setup()
            try:
                yield saver
            finally:
                async with saver.lock:
                    pass  # LangGraph does not wait for a cancelled node's last write; cut off, it would lock the file
    except sqlite3.Error as error:
        raise LedgerUnavailableError(str(path), str(error)) from error


def ledger_of(
    given: str | Path | Ledger | None, checkpointer: BaseCheckpointSaver[Any] | bool | None
) -> Callable[[], Awaitable[Ledger]]:
    """Return how to get the ledger: the given one, or in the checkpointer's file, or in memory with an in-memory one.

    Raises:
        ConfigError: The checkpointer is of a kind whose file is not known, and none is given.
    """
    if given is not None:
        return _always(SqliteLedger(given) if isinstance(given, str | Path) else given)
    if isinstance(checkpointer, SqliteSaver):
        file = _file_of(checkpointer.conn.execute("PRAGMA database_list").fetchall())
        return _always(SqliteLedger(file) if file else _ledger_in_memory(checkpointer))
    if isinstance(checkpointer, AsyncSqliteSaver):
        return _located(checkpointer)
    if checkpointer is None or isinstance(checkpointer, bool):
        return _always(SqliteLedger(IN_MEMORY))
    if isinstance(checkpointer, InMemorySaver):
        return _always(_ledger_in_memory(checkpointer))
    kind = type(checkpointer).__name__
    raise ConfigError(f"name a file for the ledger: ledger='runs.db'; a {kind} does not tell where one belongs")


def _always(ledger: Ledger) -> Callable[[], Awaitable[Ledger]]:
    async def get() -> Ledger:
        return ledger

    return get


def _located(saver: AsyncSqliteSaver) -> Callable[[], Awaitable[Ledger]]:
    """The file of an asynchronous saver can only be asked for once it is in use."""
    found: list[Ledger] = []

    async def get() -> Ledger:
        if not found:
            async with saver.conn.execute("PRAGMA database_list") as cursor:
                file = _file_of(list(await cursor.fetchall()))
            if not found:
                found.append(SqliteLedger(file) if file else _ledger_in_memory(saver))
        return found[0]

    return get


def _ledger_in_memory(saver: Any) -> SqliteLedger:
    """Graphs over one in-memory checkpointer share one ledger."""
    return _in_memory.setdefault(saver, SqliteLedger(IN_MEMORY))


def _file_of(databases: list[Any]) -> str:
    return next((str(row[2]) for row in databases if row[1] == "main"), "")
