"""The version of the ledger's tables in a file; `graph.ledger.tables.schema` makes them."""

import sqlite3

from planner_executor.graph.errors import LedgerUnavailableError

VERSION = 8
"""Version 1 had neither the index of runs nor the version table; in version 2 every payload was text; version 3 had
nothing of what `add` makes, and builds before the first release called part of that version 4; version 5 had no
families, and its standing approvals could last for any time; in version 6 no row said who started the run;
version 7 ordered lists by time alone."""


def version_of(db: sqlite3.Connection) -> int:
    """Return the version of a database's tables, 0 if it has none.

    Raises:
        sqlite3.DatabaseError: The version table is damaged.
    """
    names = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "ledger_schema" not in names:
        return 1 if "ledger_leases" in names else 0
    row = db.execute("SELECT version FROM ledger_schema").fetchone()
    if row is None or type(row[0]) is not int:
        raise sqlite3.DatabaseError("the version of the ledger's tables was changed")
    return int(row[0])


def check_version(db: sqlite3.Connection, database: str) -> int:
    """Return the version of a database's tables, 0 if it has none.

    Raises:
        LedgerUnavailableError: It is newer than this program; nothing was touched.
    """
    version = version_of(db)
    if version > VERSION:
        why = f"its tables are of version {version}, this program knows version {VERSION}; install a newer release"
        raise LedgerUnavailableError(database, why)
    return version
