"""The tables of caps across runs in an SQLite file; used within a transaction that writes."""

import sqlite3
import time
from collections.abc import Sequence

from planner_executor.graph.ledger.caps import KEPT_S, check_day, check_turn, corrected
from planner_executor.graph.record.caps import CapCorrection, CapEntry, CapUse, DayCap

TABLES = """
CREATE TABLE IF NOT EXISTS ledger_caps (
    cap TEXT NOT NULL,
    person TEXT NOT NULL,
    until REAL NOT NULL,
    used REAL NOT NULL,
    PRIMARY KEY (cap, person, until)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ledger_counted (
    call TEXT NOT NULL,
    cap TEXT NOT NULL,
    person TEXT NOT NULL,
    until REAL NOT NULL,
    amount REAL NOT NULL,
    PRIMARY KEY (call, cap, person)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ledger_counted_until ON ledger_counted (until);
CREATE TABLE IF NOT EXISTS ledger_turns (
    name TEXT PRIMARY KEY,
    last REAL NOT NULL
) WITHOUT ROWID;
"""
_ADD = "INSERT INTO ledger_caps VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET used = used + excluded.used"
_NOTE = (
    "INSERT INTO ledger_counted VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT DO UPDATE SET until = excluded.until, amount = amount + excluded.amount"
)
_OF_A_CALL = "call = ? AND cap = ? AND person = ?"


def enter(db: sqlite3.Connection, database: str, entries: Sequence[CapEntry]) -> None:
    """Count calls against caps, or correct what was counted; see `graph.ledger.caps`.

    Raises:
        CapReachedError: A cap allows a call only later; the transaction has to be rolled back.
    """
    now = time.time()
    for entry in entries:
        if isinstance(entry, CapUse):
            _take_turns(db, database, entry, now)
            for cap, amount in entry.amounts:
                _count(db, database, entry.call, cap, amount, now)
        else:
            _correct(db, entry)


def _take_turns(db: sqlite3.Connection, database: str, use: CapUse, now: float) -> None:
    for rate in use.turns:
        row = db.execute("SELECT last FROM ledger_turns WHERE name = ?", (rate.name,)).fetchone()
        check_turn(database, rate, rate.wait_s(row[0] if row else None, now))
        db.execute("INSERT OR REPLACE INTO ledger_turns VALUES (?, ?)", (rate.name, now))


def _count(db: sqlite3.Connection, database: str, call: str, cap: DayCap, amount: float, now: float) -> None:
    until = cap.until(now)
    query = "SELECT used FROM ledger_caps WHERE cap = ? AND person = ? AND until = ?"
    row = db.execute(query, (cap.name, cap.user, until)).fetchone()
    check_day(database, cap, row[0] if row else 0.0, amount, now)
    if row is None:
        _forget(db, now - KEPT_S)
    db.execute(_ADD, (cap.name, cap.user, until, amount))
    db.execute(_NOTE, (call, cap.name, cap.user, until, amount))


def _forget(db: sqlite3.Connection, over: float) -> None:
    """Remove the days before a time; sums, which no index orders by day, are looked through once a day."""
    if db.execute("DELETE FROM ledger_counted WHERE until < ?", (over,)).rowcount:
        db.execute("DELETE FROM ledger_caps WHERE until < ?", (over,))


def _correct(db: sqlite3.Connection, entry: CapCorrection) -> None:
    query = "SELECT cap, person, until, amount FROM ledger_counted WHERE call = ?"
    for name, person, until, counted in db.execute(query, (entry.call,)).fetchall():
        amount = corrected(counted, entry.more, name)
        db.execute(_ADD, (name, person, until, amount - counted))
        of_it = (entry.call, name, person)
        if amount:
            db.execute(f"UPDATE ledger_counted SET amount = ? WHERE {_OF_A_CALL}", (amount, *of_it))
        else:
            db.execute(f"DELETE FROM ledger_counted WHERE {_OF_A_CALL}", of_it)
