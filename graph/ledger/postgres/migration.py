"""The tables of a new database made, and those of an older version brought to this one, in one transaction."""

from planner_executor.graph.errors import LedgerUnavailableError
from planner_executor.graph.ledger.lease import LEASE_S
from planner_executor.graph.ledger.postgres.schema import VERSION, version_of
from planner_executor.graph.ledger.tables.locks import MAKING, lock
from planner_executor.graph.ledger.tables.migration import bring_on
from planner_executor.graph.ledger.tables.run_index import renew_rows
from planner_executor.graph.ledger.tables.schema import create, set_version
from planner_executor.graph.ledger.tables.transaction import PATIENCE, Transaction
from planner_executor.graph.record.run_key import run_name


def bring_up(tx: Transaction, database: str) -> None:
    """Make the tables of a new database, and refuse one that this program cannot use.

    Raises:
        LedgerUnavailableError: It is newer than this program, its texts are not UTF-8, or a process of an older version
            works on a run; nothing was touched.
    """
    version = version_of(tx)
    if version < VERSION:
        _check_encoding(tx, database)
        lock(tx, MAKING)
        version = version_of(tx)  # another process may have been faster
    if version > VERSION:
        why = f"its tables are of version {version}, this program knows version {VERSION}; install a newer release"
        raise LedgerUnavailableError(database, why)
    if version == VERSION:
        return
    if version:
        _refuse_while_owned(tx, database)
        bring_on(tx, database)
        renew_rows(tx)
    else:
        create(tx)
    set_version(tx, VERSION)


def _check_encoding(tx: Transaction, database: str) -> None:
    (encoding,) = tx.ask("SHOW server_encoding")[0]
    if encoding != "UTF8":
        why = f"its texts are encoded as {encoding}; make a database with ENCODING 'UTF8'"
        raise LedgerUnavailableError(database, why)


def _refuse_while_owned(tx: Transaction, database: str) -> None:
    tx.on_server(PATIENCE)
    # Taking a run locks its row first, so no run gets an owner after this check.
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
