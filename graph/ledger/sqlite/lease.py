"""The table of leases, one row per run; `graph.ledger.lease` defines the rows."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from planner_executor.graph.ledger.lease import Holder, claimed, released, set_aside, taken_over
from planner_executor.graph.ledger.protocol import Lease, RunKey

SCHEMA = """
CREATE TABLE IF NOT EXISTS ledger_leases (
    run INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    token INTEGER NOT NULL,
    beat INTEGER NOT NULL
);
"""


def claim(db: sqlite3.Connection, run: RunKey, run_id: int, owner: str) -> Lease | Holder:
    """Take a free run, or return its current row."""
    now = look(db, run_id)
    row = claimed(now, owner)
    if row is None:
        assert now is not None
        return now
    return _put(db, run, run_id, row)


def take_over(db: sqlite3.Connection, run: RunKey, run_id: int, owner: str, seen: Holder) -> Lease | None:
    """Take a run if its row is unchanged, or return None."""
    row = taken_over(look(db, run_id), seen, owner)
    return _put(db, run, run_id, row) if row is not None else None


def free(db: sqlite3.Connection, run: RunKey, run_id: int, seen: Holder | None) -> bool:
    """Leave a run free under a new token if its row is as it was seen."""
    row = set_aside(look(db, run_id), seen)
    if row is not None:
        _put(db, run, run_id, row)
    return row is not None


def release(db: sqlite3.Connection, lease: Lease) -> None:
    """Let go of a run; one that was taken over stays with its new owner."""
    if row := released(look(db, lease.run_id), lease.token):
        _put(db, lease.run, lease.run_id, row)


def disown(db: sqlite3.Connection, owner: str) -> None:
    """Release every run of an owner that never received its token."""
    db.execute("UPDATE ledger_leases SET owner = '' WHERE owner = ?", (owner,))


def beat(db: sqlite3.Connection, leases: Iterable[Lease]) -> None:
    """Show that the owner of these runs is alive."""
    held = ((lease.run_id, lease.token) for lease in leases)
    db.executemany("UPDATE ledger_leases SET beat = beat + 1 WHERE run = ? AND token = ?", held)


def look(db: sqlite3.Connection, run_id: int) -> Holder | None:
    """Return a run's row.

    Raises:
        sqlite3.DatabaseError: The row is damaged.
    """
    row = db.execute("SELECT owner, token, beat FROM ledger_leases WHERE run = ?", (run_id,)).fetchone()
    return holder_of(row) if row is not None else None


def holder_of(row: Sequence[Any]) -> Holder:
    """Return the holder in a row: owner, token, heartbeat.

    Raises:
        sqlite3.DatabaseError: The row is damaged.
    """
    owner, token, beats = row
    if (type(owner), type(token), type(beats)) != (str, int, int):
        raise sqlite3.DatabaseError("a lease was changed")
    return Holder(owner, token, beats)


def _put(db: sqlite3.Connection, run: RunKey, run_id: int, row: Holder) -> Lease:
    query = "INSERT OR REPLACE INTO ledger_leases (run, owner, token, beat) VALUES (?, ?, ?, ?)"
    db.execute(query, (run_id, row.owner, row.token, row.beat))
    return Lease(run, run_id, row.token)
