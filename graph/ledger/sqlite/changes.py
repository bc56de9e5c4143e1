"""Which runs have changed, by the numbers that SQLite gives to the rows of events.

A row's number grows with each event and costs nothing to keep. It can only be trusted while its row is still there: a
removed row's number is given again, and a rewritten file may count anew. So a position also holds the row's hash.
"""

import sqlite3

from planner_executor.graph.ledger.run_store import Changes
from planner_executor.graph.record.run_key import RunKey

MARK_BYTES = 8
"""Bytes of the hash in a position."""
_START = "0."


def changes(db: sqlite3.Connection, since: str | None) -> Changes:
    """Return the runs with events written after a position; see `graph.ledger.run_store.RunStore.changes`."""
    last = db.execute("SELECT rowid, link FROM ledger_events ORDER BY rowid DESC LIMIT 1").fetchone()
    position = _position(*last) if last else _START
    if since in (None, position):
        return Changes((), position)
    number = _known(db, str(since))
    if number is None:
        return Changes((), position, is_complete=False)
    query = "SELECT thread, n FROM ledger_runs WHERE id IN (SELECT run FROM ledger_events WHERE rowid > ?) ORDER BY id"
    return Changes(tuple(RunKey(*row) for row in db.execute(query, (number,))), position)


def _known(db: sqlite3.Connection, since: str) -> int | None:
    """Return the number in a position, or None if its row is not there any more."""
    if since == _START:
        return 0
    number = since.partition(".")[0]
    row = db.execute("SELECT rowid, link FROM ledger_events WHERE rowid = ?", (number,)).fetchone()
    return int(row[0]) if row and _position(*row) == since else None


def _position(number: int, link: bytes) -> str:
    return f"{number}.{bytes(link)[:MARK_BYTES].hex()}"
