"""One transaction on a connection, with as few round trips as its questions need."""

from collections.abc import Sequence
from typing import Any

import psycopg

Rows = list[tuple[Any, ...]]

EXACT = "SET LOCAL extra_float_digits = 3"
"""Times are hashed with their events, and a server may be set to shorten numbers."""
READS = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {EXACT}"
"""All questions of a transaction that only reads see the same moment."""
WRITES = f"BEGIN ISOLATION LEVEL READ COMMITTED; {EXACT}"
"""The row of the run is locked first; each later question then sees what was committed before the lock was granted."""

LIMITS = "SET LOCAL lock_timeout = '5s'; SET LOCAL idle_in_transaction_session_timeout = '5s'"
"""A host that stops in the middle must not keep others from its run: the server ends its transaction."""
LONG = "SET LOCAL idle_in_transaction_session_timeout = '5min'"
"""For work that computes for long between two statements."""


class Transaction:
    """Statements without a result wait for the next one that has one, or for the commit, and travel with it.

    Values are put into the text by the client, so several statements go at once in the simple protocol, with no
    prepared statement: every pooler can pass them on. `changed` has the ids of the runs that events were written of.
    """

    def __init__(self, connection: "psycopg.Connection[Any]", begin: str) -> None:
        self._cursor = psycopg.ClientCursor(connection)
        self._waiting = [begin]
        self.is_begun = self.is_committing = False
        self.changed: set[int] = set()

    def tell(self, statement: str, *values: Any) -> None:
        """Execute a statement before the next one that is asked, or with the commit."""
        self._waiting.append(self._text(statement, values))

    def tell_rows(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Execute a statement once for many rows; its `{}` stands for their values."""
        if rows:
            row = f"({', '.join(['%s'] * len(rows[0]))})"
            values = [value for given in rows for value in given]
            self.tell(statement.format(", ".join([row] * len(rows))), *values)

    def ask(self, statement: str, *values: Any) -> Rows:
        """Execute a statement and return its rows."""
        return self._send(self._text(statement, values))

    def one(self, statement: str, *values: Any) -> tuple[Any, ...] | None:
        """Return the first row of a statement, or None."""
        return next(iter(self.ask(statement, *values)), None)

    def commit(self) -> None:
        """Commit; from here on a lost connection leaves the outcome open."""
        if self.is_begun or len(self._waiting) > 1:
            self.is_committing = True
            self._send("COMMIT")

    def _text(self, statement: str, values: Sequence[Any]) -> str:
        return self._cursor.mogrify(statement, values) if values else statement

    def _send(self, statement: str) -> Rows:
        text, self._waiting = "; ".join([*self._waiting, statement]), []
        self.is_begun = True
        self._cursor.execute(text)
        while self._cursor.nextset():
            pass
        return self._cursor.fetchall() if self._cursor.description is not None else []
