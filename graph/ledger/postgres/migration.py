"""The tables of a new database made, and those of an older version brought to this one, in one transaction."""

import time

from planner_executor.graph.errors import LedgerUnavailableError
from planner_executor.graph.ledger.lease import LEASE_S
from planner_executor.graph.ledger.postgres.artifact_uses import note_all_uses
from planner_executor.graph.ledger.postgres.family_table import renew_families
from planner_executor.graph.ledger.postgres.run_index import renew_rows
from planner_executor.graph.ledger.postgres.schema import ADDED, CONTROL_INDEX, TABLES, VERSION, version_of
from planner_executor.graph.ledger.postgres.standing_table import shorten
from planner_executor.graph.ledger.postgres.transaction import LONG, Transaction
from planner_executor.graph.record.run_state import run_name
from planner_executor.graph.record.standing_approval import LONGEST_S

SCHEMA_LOCK = 6_911_051_277_381_204_001
"""Held in the transaction that makes the tables: of processes that start at once, one makes them."""


def bring_up(tx: Transaction, database: str) -> None:
    """Make the tables of a new database, and refuse one that this program cannot use.

    Raises:
        LedgerUnavailableError: It is newer than this program, its texts are not UTF-8, or a process of an older version
            works on a run; nothing was touched.
    """
    version = version_of(tx)
    if version < VERSION:
        _check_encoding(tx, database)
        tx.tell("SELECT pg_advisory_xact_lock(%s)", SCHEMA_LOCK)
        version = version_of(tx)  # another process may have been faster
    if version > VERSION:
        why = f"its tables are of version {version}, this program knows version {VERSION}; install a newer release"
        raise LedgerUnavailableError(database, why)
    if version == VERSION:
        return
    if version:
        _refuse_while_owned(tx, database)
    for tables in ((TABLES,) if version == 0 else ()) + ADDED:
        tx.tell(tables.strip().removesuffix(";"))
    if version:
        tx.tell(
            f"DROP INDEX IF EXISTS ledger_control; {CONTROL_INDEX.removesuffix(';')}"
        )  # it has the kinds of version 1
        note_all_uses(tx)
        renew_families(tx)
        shorten(tx, database, time.time() + LONGEST_S)
        renew_rows(tx)
    tx.tell("DELETE FROM ledger_schema")
    tx.tell("INSERT INTO ledger_schema VALUES (%s)", VERSION)


def _check_encoding(tx: Transaction, database: str) -> None:
    (encoding,) = tx.ask("SHOW server_encoding")[0]
    if encoding != "UTF8":
        why = f"its texts are encoded as {encoding}; make a database with ENCODING 'UTF8'"
        raise LedgerUnavailableError(database, why)


def _refuse_while_owned(tx: Transaction, database: str) -> None:
    tx.tell(LONG)
    tx.tell("LOCK TABLE ledger_runs IN EXCLUSIVE MODE")
    query = (
        "SELECT thread, n FROM ledger_leases JOIN ledger_runs ON ledger_runs.id = run "
        "WHERE owner != '' AND beat_at > clock_timestamp() - make_interval(secs => %s) LIMIT 1"
    )
    for thread, n in tx.ask(query, LEASE_S):
        why = (
            f"run {run_name(thread, n)} is being worked on by an older release; pause it or let it end, then try again"
        )
        raise LedgerUnavailableError(database, why)
