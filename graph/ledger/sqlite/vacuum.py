"""Removing leftovers of redacted values from a database file, searching it for a value, and making it smaller."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from planner_executor.graph.ledger.owner import is_gone
from planner_executor.graph.ledger.sqlite.checkpoint_redaction import packed_places
from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.tables.dialect import in_sqlite, payload_text

BUSY_S = 5.0
INCREMENTAL = 2
STEP_PAGES = 500
"""Pages that one transaction moves: other writers get their turn in between."""
TURN_S = 0.1
"""How long others have for it: SQLite looks at a lock that it waits for no more often than that."""
EMPTYING_MS = 100
"""How long the write-ahead log waits for readers to be emptied: meanwhile nobody can write."""


def compact(path: str) -> None:
    """Write the file anew without its free pages, and empty its write-ahead log.

    Raises:
        sqlite3.OperationalError: Other connections to the database prevent it.
    """
    with closing(sqlite3.connect(path, isolation_level=None, timeout=BUSY_S)) as db:
        db.execute("VACUUM")
        busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise sqlite3.OperationalError(
            "the value is out of all records, but others who have the database open keep its old pages in the "
            "write-ahead log; close them and redact again"
        )


def give_back(path: str, rest: Callable[[float], None] = time.sleep) -> bool:
    """Return free pages to the file system in small steps; return False if that would keep runs from their records.

    A file that an earlier version made has to be rewritten as a whole once, while no run has an owner.
    """
    with closing(sqlite3.connect(path, isolation_level=None, timeout=BUSY_S)) as db:
        if db.execute("PRAGMA auto_vacuum").fetchone()[0] != INCREMENTAL:
            # The whole file is written anew then, and heartbeats would wait for longer than a lease lasts.
            owners = db.execute("SELECT owner FROM ledger_leases WHERE owner != ''").fetchall()
            if not all(is_gone(owner) for (owner,) in owners):
                return False
            db.execute("PRAGMA auto_vacuum=INCREMENTAL")
            db.execute("VACUUM")
        while free := db.execute("PRAGMA freelist_count").fetchone()[0]:
            db.executescript(f"PRAGMA incremental_vacuum({STEP_PAGES})")  # `execute` would move one page
            if free > STEP_PAGES:
                rest(TURN_S)
        db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()  # what takes long, beside other writers
        db.execute(f"PRAGMA busy_timeout={EMPTYING_MS}")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()  # if others read the file, their checkpoint does it
    return True


def places_of(db: Connection, forms: Sequence[str]) -> list[str]:
    """Return the places that hold a value, in one of its forms, named by run or thread if they have one."""
    found = (place for table in _tables(db) for place in _places_in(db, table, forms))
    return list(dict.fromkeys([*found, *packed_places(db, forms)]))


def _places_in(db: sqlite3.Connection, table: str, forms: Sequence[str]) -> Iterator[str]:
    columns = [str(row[1]) for row in db.execute(f'PRAGMA table_info("{table}")')]
    # As bytes: `LIKE` folds case, and text functions stop at a NUL.
    found = " OR ".join(f'instr(CAST("{column}" AS BLOB), ?)' for column in columns for _ in forms)
    values = [form.encode("utf-8", "surrogatepass") for _ in columns for form in forms]
    if table == "ledger_events":
        source = "ledger_events JOIN ledger_runs ON ledger_runs.id = ledger_events.run"
        # Payloads may be packed, and are searched as the text that was packed.
        cells = [
            in_sqlite(payload_text("payload")) if name == "payload" else f"ledger_events.{name}" for name in columns
        ]
        found = " OR ".join(f"instr(CAST({cell} AS BLOB), ?)" for cell in cells for _ in forms)
        for thread, n in db.execute(f"SELECT DISTINCT thread, n FROM {source} WHERE {found}", values):
            yield f"run {thread}.{n}"
    elif "thread_id" in columns:
        for (thread,) in db.execute(f'SELECT DISTINCT thread_id FROM "{table}" WHERE {found}', values):
            yield f"{table} of thread {thread}"
    elif db.execute(f'SELECT 1 FROM "{table}" WHERE {found} LIMIT 1', values).fetchone() is not None:
        yield f"table {table}"


def _tables(db: sqlite3.Connection) -> list[str]:
    return [str(row[0]) for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
