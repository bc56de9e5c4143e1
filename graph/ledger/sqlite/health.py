"""Health check of a database: size, integrity, and leases of dead owners."""

import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

from planner_executor.graph.ledger.run_store import Health
from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.tables.dialect import IS_THERE
from planner_executor.graph.ledger.tables.search import dead

Found = TypeVar("Found")

TABLES = ("ledger_events", "ledger_artifacts", "checkpoints", "writes")


def examine(db: Connection, path: Path, silent_s: float) -> Health:
    """Examine the database of a connection; unreadable parts are reported as damage."""
    damage = [*_cut_short(db, path)]

    def read(ask: Callable[[], Found], otherwise: Found) -> Found:
        try:
            return ask()
        except sqlite3.DatabaseError as error:
            damage.append(str(error))
            return otherwise

    damage += read(lambda: _faults(db), [])
    tables = {name: read(partial(_content, db, name), (0, 0)) for name in TABLES if db.one(IS_THERE, name)}
    return Health(
        file=_size(path),
        write_ahead_log=_size(path.with_name(path.name + "-wal")),
        runs=read(lambda: int(db.execute("SELECT count(*) FROM ledger_runs").fetchone()[0]), 0),
        tables=tables,
        dead=read(lambda: dead(db, silent_s), ()),
        damage=tuple(dict.fromkeys(damage)),
    )


def _cut_short(db: Connection, path: Path) -> Iterator[str]:
    (page_size,) = db.execute("PRAGMA page_size").fetchone()
    if _size(path) % page_size:
        yield "the file ends in the middle of a page"


def _faults(db: Connection) -> list[str]:
    """Return the faults of SQLite's integrity check."""
    found = [str(row[0]) for row in db.execute("PRAGMA integrity_check")]
    return [] if found == ["ok"] else found


def _content(db: Connection, table: str) -> tuple[int, int]:
    columns = [str(row[1]) for row in db.execute(f"PRAGMA table_info({table})")]
    total = " + ".join(f"coalesce(length(CAST({name} AS BLOB)), 0)" for name in columns)
    rows, size = db.execute(f"SELECT count(*), coalesce(sum({total}), 0) FROM {table}").fetchone()
    return int(rows), int(size)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
