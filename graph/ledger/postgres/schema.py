"""The version of the ledger's tables in a PostgreSQL database; `graph.ledger.tables.schema` makes them."""

from planner_executor.graph.ledger.tables.transaction import Transaction

VERSION = 6
"""Version 1 had nothing of what `add` makes, and builds before the first release called part of that version 2;
version 3 had no families, and its standing approvals could last for any time; version 5 ordered lists by
time alone."""


def version_of(tx: Transaction) -> int:
    """Return the version of the tables in the connection's schema, 0 if there are none."""
    # `to_regclass` would answer from a cache, which misses what another process has just made.
    there = tx.ask("SELECT FROM pg_class WHERE relname = 'ledger_schema' AND pg_table_is_visible(oid)")
    row = tx.one("SELECT max(version) FROM ledger_schema") if there else None
    return int(row[0]) if row and row[0] is not None else 0
