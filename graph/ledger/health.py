"""How a database is: its size and growth, whether it is whole, and which leases nobody holds any more."""

import sqlite3
from pathlib import Path

from graph.ledger.lease import is_gone
from graph.ledger.protocol import Health
from graph.run.record import run_name

TABLES = ("ledger_events", "ledger_artifacts", "checkpoints", "writes")


def examine(db: sqlite3.Connection, path: Path) -> Health:
    """Examine the database behind a connection."""
    (runs,) = db.execute("SELECT count(*) FROM ledger_runs").fetchone()
    checked = [str(row[0]) for row in db.execute("PRAGMA integrity_check")]
    return Health(
        file=_size(path),
        write_ahead_log=_size(path.with_name(path.name + "-wal")),
        runs=runs,
        tables={table: _content(db, table) for table in TABLES if _is_there(db, table)},
        damage=() if checked == ["ok"] else tuple(checked),
        dead=_dead(db),
    )


def _content(db: sqlite3.Connection, table: str) -> tuple[int, int]:
    columns = [str(row[1]) for row in db.execute(f"PRAGMA table_info({table})")]
    total = " + ".join(f"coalesce(length(CAST({name} AS BLOB)), 0)" for name in columns)
    rows, size = db.execute(f"SELECT count(*), coalesce(sum({total}), 0) FROM {table}").fetchone()
    return int(rows), int(size)


def _is_there(db: sqlite3.Connection, table: str) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone() is not None


def _dead(db: sqlite3.Connection) -> tuple[str, ...]:
    query = (
        "SELECT thread, n, owner FROM ledger_leases JOIN ledger_runs ON ledger_runs.id = ledger_leases.run "
        "WHERE owner != '' ORDER BY id"
    )
    return tuple(run_name(thread, n) for thread, n, owner in db.execute(query) if is_gone(owner))


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
