"""The table of standing approvals in an SQLite file."""

import sqlite3
from collections.abc import Collection, Sequence
from itertools import groupby

from planner_executor.graph.ledger.chain import Row
from planner_executor.graph.ledger.standing import (
    COLUMNS,
    given_row,
    may_cover,
    redacted_rows,
    revoked_row,
    shortened_rows,
    use_of,
    used_row,
)
from planner_executor.graph.record.redaction import Redactor
from planner_executor.graph.record.standing_approval import StandingApproval, StandingCall, StandingUse

TABLES = """
CREATE TABLE IF NOT EXISTS ledger_standing (
    approval TEXT NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    step TEXT,
    at REAL NOT NULL,
    payload TEXT NOT NULL,
    salt BLOB NOT NULL,
    digest BLOB NOT NULL,
    link BLOB NOT NULL,
    PRIMARY KEY (approval, seq)
) WITHOUT ROWID;
"""
FIRST = """
WITH RECURSIVE names (name) AS (
    SELECT min(approval) FROM ledger_standing
    UNION ALL SELECT (SELECT min(approval) FROM ledger_standing WHERE approval > name) FROM names WHERE name IS NOT NULL
)
SELECT name, (SELECT payload FROM ledger_standing WHERE approval = name AND seq = 1) FROM names WHERE name IS NOT NULL
"""
"""The first row of each approval, without a look at the rows of its uses."""
PUT = "INSERT OR REPLACE INTO ledger_standing VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


def give(db: sqlite3.Connection, approval: StandingApproval) -> None:
    """Keep an approval; one that is there stays as it is, since a node that is repeated gives it again."""
    if not _rows(db, approval.id):
        db.execute(PUT, (approval.id, *given_row(approval)))


def count(db: sqlite3.Connection, database: str, uses: Sequence[StandingCall]) -> None:
    """Count calls; see `graph.ledger.standing.used_row`."""
    for use in uses:
        if row := used_row(database, _rows(db, use.approval), use):
            db.execute(PUT, (use.approval, *row))


def revoke(db: sqlite3.Connection, database: str, name: str, by: str) -> bool:
    """End an approval; return whether there was one to end."""
    row = revoked_row(database, _rows(db, name), name, by)
    if row is not None:
        db.execute(PUT, (name, *row))
    return row is not None


def standing(db: sqlite3.Connection, database: str, tool: str | None, named: Collection[str]) -> list[StandingUse]:
    """Return standing approvals, the oldest first; see `graph.ledger.protocol.Ledger.standing`."""
    left = may_cover(dict(db.execute(FIRST)), tool, named)
    uses = [use_of(database, name, _rows(db, name)) for name in left]
    return sorted(uses, key=lambda use: use.approval.given_at)


def redact(db: sqlite3.Connection, database: str, redactor: Redactor, by: str, reason: str) -> int:
    """Take a value out of all approvals, whoever gave them; return how many held it."""
    changed = redacted_rows(database, _all(db), redactor, by, reason)
    db.executemany(PUT, [(name, *row) for name, rows in changed.items() for row in rows])
    return len(changed)


def shorten(db: sqlite3.Connection, database: str, until: float) -> None:
    """End each approval that would last longer at a time, in Unix seconds."""
    rows = shortened_rows(database, _all(db), until)
    db.executemany(PUT, [(name, *row) for name, row in rows.items()])


def _all(db: sqlite3.Connection) -> dict[str, list[Row]]:
    found = db.execute(f"SELECT approval, {COLUMNS} FROM ledger_standing ORDER BY approval, seq").fetchall()
    return {name: [Row(*row[1:]) for row in rows] for name, rows in groupby(found, key=lambda row: row[0])}


def _rows(db: sqlite3.Connection, name: str) -> list[Row]:
    query = f"SELECT {COLUMNS} FROM ledger_standing WHERE approval = ? ORDER BY seq"
    return [Row(*row) for row in db.execute(query, (name,))]
