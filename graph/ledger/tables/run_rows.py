"""The rows of a run, as its readers find them in one transaction."""

from collections.abc import Iterator
from typing import Any

from planner_executor.graph.errors import MissingRunError
from planner_executor.graph.ledger.chain import COLUMNS, Row
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.reading import Snapshot
from planner_executor.graph.ledger.refusals import damaged_row
from planner_executor.graph.ledger.seal import Standing
from planner_executor.graph.ledger.tables.run_names import id_of
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.record.run_key import RunKey

ALL = -(2**63)
"""Sequence number below every stored one, to select all rows, also damaged ones."""
HAS_MESSAGES = "EXISTS (SELECT 1 FROM ledger_inbox WHERE ledger_inbox.run = runs.id)"
_ROWS = f"SELECT {COLUMNS} FROM ledger_events WHERE run = %s AND seq >= %s ORDER BY seq"
_RUN = f"events, key, seal, {HAS_MESSAGES} FROM ledger_runs AS runs WHERE"
_STANDING = f"SELECT {_RUN} id = %s"
_LATEST = f"SELECT id, n, {_RUN} thread = %s ORDER BY n DESC LIMIT 1"
_OWNER = "SELECT owner FROM ledger_leases WHERE run = %s"


def run_id_of(tx: Transaction, database: str, run: RunKey) -> int:
    """Return the number by which the tables know a run.

    Raises:
        MissingRunError: It is not there.
    """
    found = id_of(tx, run)
    if found is None:
        raise MissingRunError(database, run.id)
    return found


def read_rows(tx: Transaction, run_id: int, after: int = ALL) -> Iterator[Row]:
    """Yield a run's rows from the `after`-th on."""
    return tx.read_rows(tx.ask(_ROWS, run_id, after))


def found_of(tx: Transaction, database: str, run_id: int, after: int) -> Snapshot:
    """Return a run from its `after`-th event on; fewer rows than were written are a fault, not a shorter run.

    Raises:
        LedgerUnavailableError: Its row is damaged.
    """
    rows = list(read_rows(tx, run_id, after))
    return _snapshot(database, rows, *tx.ask(_STANDING, run_id)[0])


def snapshot_of(tx: Transaction, head: Head, after: int) -> Snapshot:
    """Return a run as its transaction has found or left it, from its `after`-th event on."""
    return Snapshot(list(read_rows(tx, head.run_id, after)), head.standing, head.has_messages)


def latest_of(
    tx: Transaction, database: str, thread: str, known: RunKey | None, after: int
) -> tuple[RunKey, Snapshot] | None:
    """Return the thread's latest run, from its `after`-th event on if it is the known one; or None.

    Raises:
        LedgerUnavailableError: Its row is damaged.
    """
    found = tx.one(_LATEST, thread)
    if found is None:
        return None
    run_id, n, *standing = found
    run = RunKey(thread, n)
    return run, _snapshot(database, list(read_rows(tx, run_id, after if run == known else 0)), *standing)


def _snapshot(database: str, rows: list[Row], events: Any, key: Any, seal: Any, has_messages: Any) -> Snapshot:
    if type(events) is not int:
        raise damaged_row(database, "the list of runs")
    return Snapshot(rows, Standing(events, key, seal), bool(has_messages))


def owner_of(tx: Transaction, run_id: int) -> str | None:
    """Return the owner of a run on record, whether or not it is alive; None if the run is free."""
    row = tx.one(_OWNER, run_id)
    return str(row[0]) if row and row[0] else None
