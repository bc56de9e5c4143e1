"""One text for both databases: what SQLite and PostgreSQL say differently stands in it side by side.

Statements in `graph/ledger/tables/` have `%s` for each value and `{}` for the values of many rows. A driver picks its
words once for each text. See `docs/decisions/0056-tables-in-postgresql.md`.
"""

import re
from functools import lru_cache

_EITHER = re.compile("\x01([^\x01-\x03]*)\x02([^\x01-\x03]*)\x03")
STATEMENTS = 1_024
"""So many texts are kept as a driver says them; there are fewer constants."""


def either(sqlite: str, postgres: str) -> str:
    """Return what stands in a statement for words that each database has in its own way.

    >>> larger = f"SELECT {either('max', 'greatest')}(%s, 1)"
    >>> in_sqlite(larger), in_postgres(larger)
    ('SELECT max(?, 1)', 'SELECT greatest(%s, 1)')
    """
    return f"\x01{sqlite}\x02{postgres}\x03"


@lru_cache(STATEMENTS)
def in_sqlite(statement: str) -> str:
    """Return a statement as SQLite reads it."""
    return _picked(statement, r"\1").replace("%s", "?")


@lru_cache(STATEMENTS)
def in_postgres(statement: str) -> str:
    """Return a statement as PostgreSQL's client reads it."""
    return _picked(statement, r"\2")


def _picked(statement: str, group: str) -> str:
    while "\x01" in statement:  # words of one may hold others
        statement = _EITHER.sub(group, statement)
    return statement


TEXT = either("TEXT", "text")
NAME = either("TEXT", 'text COLLATE "C"')
"""Names of threads, ids and kinds are ordered by code points, whatever a database's locale is."""
INT = either("INTEGER", "bigint")
REAL = either("REAL", "double precision")
BYTES = either("BLOB", "bytea")
STAMP = either("REAL", "timestamptz")
"""A time that is only compared with the clock of the database."""
OF_RUN = either("INTEGER NOT NULL REFERENCES ledger_runs (id)", "bigint NOT NULL")
BY_KEY = either(" WITHOUT ROWID", "")
"""Rows of a table are stored in the order of its key."""


def changing(percent: int, sqlite: str = BY_KEY) -> str:
    """Return the end of a table whose rows change often: so much of a page is filled at first."""
    # A new version of a row then finds room on the page of the old one, and no index has to lead elsewhere.
    return either(sqlite, f" WITH (fillfactor = {percent})")


CLOCK = either("clock()", "extract(epoch FROM clock_timestamp())::float8")
"""The time in Unix seconds, by the clock of the database: a server's, or this process's for a file."""
NOW = either("clock()", "clock_timestamp()")
"""The same as a `STAMP`."""
LATER = either("clock() + %s", "clock_timestamp() + make_interval(secs => %s)")
"""A `STAMP` in so many seconds, null if they are."""
AMONG = either("IN (SELECT value FROM json_each(%s))", "= ANY(%s)")
"""Comparison with one of `Transaction.many`."""
LOCKED = either("", "FOR UPDATE")
"""Rows that the transaction is about to change; in a file, one transaction writes at a time."""
SAME = either("IS", "IS NOT DISTINCT FROM")
"""Equal, or both null."""
IS_THERE = either(
    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = %s",
    "SELECT 1 WHERE to_regclass(%s) IS NOT NULL",
)
"""A row if there is a table of that name."""


def payload_text(column: str) -> str:
    """Return the JSON text of a payload, which may be packed in a file."""
    return either(f"CASE typeof({column}) WHEN 'blob' THEN unpacked({column}) ELSE {column} END", column)
