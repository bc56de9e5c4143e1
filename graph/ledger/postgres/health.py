"""Health check of a database: size, and leases of dead owners."""

from planner_executor.graph.ledger.postgres.thread_tables import TABLES as OF_LANGGRAPH
from planner_executor.graph.ledger.postgres.thread_tables import tables_of
from planner_executor.graph.ledger.run_store import Health
from planner_executor.graph.ledger.tables.schema import TABLES
from planner_executor.graph.ledger.tables.search import dead
from planner_executor.graph.ledger.tables.transaction import Transaction

OURS = ("ledger_events", "ledger_artifacts")


def examine(tx: Transaction, silent_s: float) -> Health:
    """Examine the database; `file` is the size of all its tables, and the server has a log of its own.

    An owner that was silent for more than `silent_s` seconds is dead.
    """
    names = [*OURS, *tables_of(tx)]
    size = "SELECT coalesce(sum(pg_total_relation_size(to_regclass(name))), 0) FROM unnest(%s) AS name"
    return Health(
        file=int(tx.ask(size, [*TABLES, *OF_LANGGRAPH])[0][0]),
        write_ahead_log=0,
        runs=int(tx.ask("SELECT count(*) FROM ledger_runs")[0][0]),
        tables={name: _content(tx, name) for name in names},
        dead=dead(tx, silent_s),
        damage=(),
    )


def _content(tx: Transaction, table: str) -> tuple[int, int]:
    """Return rows and bytes of a table, as they are stored."""
    rows, size = tx.ask(f"SELECT count(*), coalesce(sum(pg_column_size(t.*)), 0) FROM {table} AS t")[0]
    return int(rows), int(size)
