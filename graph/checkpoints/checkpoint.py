"""Storage of a graph: the checkpointer and its ledger."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.checkpoints.saver import SharingSaver
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.ledger.address import is_address
from planner_executor.graph.ledger.database_name import DATABASE, IN_MEMORY
from planner_executor.graph.ledger.drivers import file_of, open_ledger
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.ledger.seal import key_from_environment
from planner_executor.graph.ledger.sqlite.busy_timeout import busy_timeout_with
from planner_executor.graph.ledger.sqlite.file import prepare, used

_in_memory: WeakKeyDictionary[Any, Ledger] = WeakKeyDictionary()


def database() -> str:
    """Return the default database: a file, or the address of a PostgreSQL database."""
    return os.environ.get("PLANNER_EXECUTOR_DB") or DATABASE


@asynccontextmanager
async def studio_checkpointer() -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """Open the checkpointer of the LangGraph server, in the ledger's database; `langgraph.json` names this function."""
    async with open_checkpointer(database()) as saver:
        yield saver


@asynccontextmanager
async def open_checkpointer(database: str | Path) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """Open the checkpointer in the ledger's database: a file, or the address of a PostgreSQL database.

    Raises:
        ConfigError: The packages for such an address are not installed.
        LedgerUnavailableError: The database cannot be opened.
    """
    async with _in_postgres(str(database)) if is_address(str(database)) else _in_file(database) as saver:
        yield saver


@asynccontextmanager
async def _in_postgres(address: str) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    await run_sync(lambda: open_ledger(address))  # says which packages are missing
    # Files are read, on another thread.
    load = await run_sync(lambda: import_module("planner_executor.graph.checkpoints.postgres_saver"))
    async with load.open_postgres_saver(address) as saver:
        yield saver


@asynccontextmanager
async def _in_file(path: str | Path) -> AsyncIterator[AsyncSqliteSaver]:
    """Open the SQLite checkpointer of a file, which is created with mode 0600, or one in memory.

    It does not wait for the disk: a commit of the ledger does, for both.
    """
    wait_s = busy_timeout_with(str(path)).left_s
    with used(str(path)):
        if str(path) != IN_MEMORY:
            await run_sync(lambda: prepare(Path(path), wait_s))
        async with aiosqlite.connect(str(path)) as connection:
            await connection.execute("PRAGMA synchronous=NORMAL")
            saver = SharingSaver(connection, str(path))
            await saver.setup()
            try:
                yield saver
            finally:
                async with saver.lock:
                    pass  # LangGraph does not wait for a cancelled node's last write; cut off, it would lock the file


def ledger_of(
    given: str | Path | Ledger | None,
    checkpointer: BaseCheckpointSaver[Any] | bool | None,
    check: Callable[[str], None],
) -> Callable[[], Awaitable[Ledger]]:
    """Return how to get the ledger: the given one, or in the checkpointer's database, or in memory with such a one.

    Args:
        given: A file, an address, a ledger, or None.
        checkpointer: The graph's own.
        check: Called with the ledger's file as soon as it is known; may refuse it.

    Raises:
        ConfigError: The checkpointer is of a kind whose file is not known, and none is given; or `check` refuses.
        LedgerKeyError: The key that seals runs cannot be used.
    """
    # What a caller names comes first; all else is a guess from the checkpointer.
    if given is not None:
        opened = open_ledger(given, key_from_environment()) if isinstance(given, str | Path) else given
        if not isinstance(getattr(opened, "name", None), str):
            expected = "the path of an SQLite file, the address of a PostgreSQL database, or an open ledger"
            raise ConfigError(f"ledger must be {expected}, got {type(given).__name__}")
        return _always(opened, check)
    if isinstance(checkpointer, SqliteSaver):
        # SQLite tells the file of a connection, also of one that a user opened.
        file = _file_of(checkpointer.conn.execute("PRAGMA database_list").fetchall())
        opened = open_ledger(file, key_from_environment()) if file else _ledger_in_memory(checkpointer)
        return _always(opened, check)
    if isinstance(checkpointer, AsyncSqliteSaver):
        return _located(checkpointer, check)
    # By the attribute and not by class: the driver of PostgreSQL may not be installed.
    if address := getattr(checkpointer, "address", None):
        return _always(open_ledger(address, key_from_environment()), check)
    # True and None leave the choice to a parent graph or a server, whose database is not known.
    if checkpointer is None or isinstance(checkpointer, bool):
        return _always(open_ledger(IN_MEMORY), check)
    if isinstance(checkpointer, InMemorySaver):
        return _always(_ledger_in_memory(checkpointer), check)
    kind = type(checkpointer).__name__
    raise ConfigError(f"name a database for the ledger: ledger='runs.db'; a {kind} does not tell where one belongs")


def _always(ledger: Ledger, check: Callable[[str], None]) -> Callable[[], Awaitable[Ledger]]:
    _vet(ledger, check)

    async def get() -> Ledger:
        return ledger

    return get


def _located(saver: AsyncSqliteSaver, check: Callable[[str], None]) -> Callable[[], Awaitable[Ledger]]:
    """The file of an asynchronous saver can only be asked for once it is in use."""
    key = key_from_environment()
    found: list[Ledger] = []

    async def get() -> Ledger:
        if not found:
            async with saver.conn.execute("PRAGMA database_list") as cursor:
                file = _file_of(list(await cursor.fetchall()))
            ledger = await run_sync(lambda: open_ledger(file, key) if file else _ledger_in_memory(saver))
            await run_sync(lambda: _vet(ledger, check))
            # Another caller may have opened one meanwhile, and all are to use the same.
            if not found:
                found.append(ledger)
        return found[0]

    return get


def _vet(ledger: Ledger, check: Callable[[str], None]) -> None:
    if (file := file_of(ledger)) is not None:
        check(file)


def _ledger_in_memory(saver: Any) -> Ledger:
    """Graphs over one in-memory checkpointer share one ledger."""
    return _in_memory.setdefault(saver, open_ledger(IN_MEMORY))


def _file_of(databases: list[Any]) -> str:
    return next((str(row[2]) for row in databases if row[1] == "main"), "")
