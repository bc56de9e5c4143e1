"""The tables of caps across runs; the clock of the database counts."""

from collections.abc import Sequence

from planner_executor.graph.ledger.caps import KEPT_S, check_day, check_turn, corrected
from planner_executor.graph.ledger.tables.dialect import BY_KEY, CLOCK, LOCKED, NAME, REAL, changing, either
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.record.caps import CapCorrection, CapEntry, CapUse, DayCap

TABLES = f"""
CREATE TABLE IF NOT EXISTS ledger_caps (
    cap {NAME} NOT NULL,
    person {NAME} NOT NULL,
    until {REAL} NOT NULL,
    used {REAL} NOT NULL,
    PRIMARY KEY (cap, person, until)
){changing(50)};
CREATE TABLE IF NOT EXISTS ledger_counted (
    call {NAME} NOT NULL,
    cap {NAME} NOT NULL,
    person {NAME} NOT NULL,
    until {REAL} NOT NULL,
    amount {REAL} NOT NULL,
    PRIMARY KEY (call, cap, person)
){BY_KEY};
CREATE INDEX IF NOT EXISTS ledger_counted_until ON ledger_counted (until);
CREATE TABLE IF NOT EXISTS ledger_turns (
    name {NAME} PRIMARY KEY,
    last {REAL} NOT NULL
){changing(50)};
"""
_OPEN = "INSERT INTO ledger_caps (cap, person, until, used) VALUES (%s, %s, %s, 0) ON CONFLICT DO NOTHING RETURNING cap"
_HELD = f"SELECT used FROM ledger_caps WHERE cap = %s AND person = %s AND until = %s {LOCKED}"
_ADD = f"""UPDATE ledger_caps SET used = {either("max", "greatest")}(0, used + %s)
    WHERE cap = %s AND person = %s AND until = %s"""
_NOTE = (
    "INSERT INTO ledger_counted AS held (call, cap, person, until, amount) VALUES (%s, %s, %s, %s, %s) "
    "ON CONFLICT (call, cap, person) DO UPDATE SET until = excluded.until, amount = held.amount + excluded.amount"
)
_FIRST_TURN = f"""INSERT INTO ledger_turns (name, last) VALUES (%s, {either("-9e999", "'-Infinity'")})
    ON CONFLICT DO NOTHING"""
_TURN = f"SELECT last, {CLOCK} FROM ledger_turns WHERE name = %s {LOCKED}"
_GONE = "DELETE FROM ledger_counted WHERE until < %s RETURNING until"
_ANY_GONE = either(_GONE, f"WITH gone AS ({_GONE}) SELECT FROM gone LIMIT 1")
_COUNTED = f"SELECT cap, person, until, amount FROM ledger_counted WHERE call = %s ORDER BY cap, person {LOCKED}"
_OF_A_CALL = "call = %s AND cap = %s AND person = %s"


def enter(tx: Transaction, database: str, entries: Sequence[CapEntry]) -> None:
    """Count calls against caps, or correct what was counted; see `graph.ledger.caps`. Rows are locked in one order.

    Raises:
        CapReachedError: A cap allows a call only later; the transaction has to be rolled back.
    """
    for entry in entries:
        if isinstance(entry, CapUse):
            _take_turns(tx, database, entry)
            for cap, amount in sorted(entry.amounts, key=lambda one: (one[0].name, one[0].user)):
                _count(tx, database, entry.call, cap, amount)
        else:
            _correct(tx, entry)


def _take_turns(tx: Transaction, database: str, use: CapUse) -> None:
    for rate in use.turns:
        # The row has to exist before it is locked: locking a missing row blocks nobody.
        tx.tell(_FIRST_TURN, rate.name)
        (last, now), *_ = tx.ask(_TURN, rate.name)
        check_turn(database, rate, rate.wait_s(last, now))
        tx.tell("UPDATE ledger_turns SET last = %s WHERE name = %s", now, rate.name)


def _count(tx: Transaction, database: str, call: str, cap: DayCap, amount: float) -> None:
    now = tx.now()
    until = cap.until(now)
    of_it = (cap.name, cap.user, until)
    # The first call of a day deletes old rows, so no separate task has to.
    if tx.ask(_OPEN, *of_it):
        _forget(tx, now - KEPT_S)
    (used,), *_ = tx.ask(_HELD, *of_it)
    check_day(database, cap, used, amount, now)
    tx.tell(_ADD, amount, *of_it)
    # By call: the correction after the outcome does not know the day, and finds here which one was counted.
    tx.tell(_NOTE, call, *of_it, amount)


def _forget(tx: Transaction, over: float) -> None:
    """Remove the days before a time; sums, which no index orders by day, are looked through once a day."""
    if tx.ask(_ANY_GONE, over):
        tx.tell("DELETE FROM ledger_caps WHERE until < %s", over)


def _correct(tx: Transaction, entry: CapCorrection) -> None:
    for name, person, until, counted in tx.ask(_COUNTED, entry.call):
        amount = corrected(counted, entry.more, name)
        tx.tell(_ADD, amount - counted, name, person, until)
        of_it = (entry.call, name, person)
        if amount:
            tx.tell(f"UPDATE ledger_counted SET amount = %s WHERE {_OF_A_CALL}", amount, *of_it)
        else:
            tx.tell(f"DELETE FROM ledger_counted WHERE {_OF_A_CALL}", *of_it)
