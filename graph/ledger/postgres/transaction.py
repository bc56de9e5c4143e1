"""One transaction on a connection, with as few round trips as its questions need."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import psycopg

from planner_executor.graph.ledger.chain import Row
from planner_executor.graph.ledger.postgres.history_table import add_samples, history
from planner_executor.graph.ledger.tables.dialect import CLOCK, in_postgres
from planner_executor.graph.ledger.tables.reader import Rows
from planner_executor.graph.record.sample import Sample, Samples

EXACT = "SET LOCAL extra_float_digits = 3"
"""Times are hashed with their events, and a server may be set to shorten numbers."""
READS = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {EXACT}"
"""All questions of a transaction that only reads see the same moment."""
WRITES = f"BEGIN ISOLATION LEVEL READ COMMITTED; {EXACT}"
"""The row of the run is locked first; each later question then sees what was committed before the lock was granted."""

LIMITS = "SET LOCAL lock_timeout = '5s'; SET LOCAL idle_in_transaction_session_timeout = '5s'"
"""A host that stops in the middle must not keep others from its run: the server ends its transaction."""
SHARES = 64
"""A count is spread over so many rows, by run: runs that end at the same time do not wait for each other."""


class Transaction:
    """See `graph.ledger.tables.transaction.Transaction`.

    Statements without a result wait for the next one that has one, or for the commit, and travel with it. Values are
    put into the text by the client, so several statements go at once in the simple protocol, with no prepared
    statement: every pooler can pass them on. `changed` has the ids of the runs that events were written of.
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
            text = in_postgres(statement).format(", ".join([row] * len(rows)))
            self._waiting.append(self._cursor.mogrify(text, values))

    def script(self, statements: str) -> None:
        """Execute several statements before the next one that is asked."""
        self.tell(in_postgres(statements).strip().removesuffix(";"))

    def on_server(self, statement: str, *values: Any) -> None:
        """Execute a statement that takes a lock or time, before the next one that is asked."""
        self.tell(statement, *values)

    def ask(self, statement: str, *values: Any) -> Rows:
        """Execute a statement and return its rows."""
        return self._send(self._text(statement, values))

    def one(self, statement: str, *values: Any) -> tuple[Any, ...] | None:
        """Return the first row of a statement, or None."""
        return next(iter(self.ask(statement, *values)), None)

    def many(self, values: Iterable[object]) -> list[object]:
        """Return several values as an array."""
        return list(values)

    def now(self) -> float:
        """Return the time of the server."""
        return float(self.ask(f"SELECT {CLOCK}")[0][0])

    def stored_payload(self, _kind: str, text: str) -> str:
        """Return the payload of an event as it is: the server compresses long ones itself."""
        return text

    def read_rows(self, found: Iterable[Sequence[Any]]) -> Iterator[Row]:
        """Yield stored rows of events."""
        return map(Row._make, found)

    def share(self, run_id: int) -> tuple[int]:
        """Return the share of a count that a run adds to."""
        return (run_id % SHARES,)

    def add_samples(self, run_id: int, samples: Samples) -> None:
        """Add what the steps of a run took that has ended."""
        add_samples(self, run_id, samples)

    def samples(self, likenesses: Sequence[str]) -> dict[str, list[Sample]]:
        """Return what steps of these likenesses took, the latest first."""
        return history(self, likenesses)

    def wrote(self, run_id: int) -> None:
        """Take note that events of a run are written."""
        self.changed.add(run_id)

    def commit(self) -> None:
        """Commit; from here on a lost connection leaves the outcome open."""
        # If nothing was asked or told, only BEGIN is waiting, and there is nothing to commit.
        if self.is_begun or len(self._waiting) > 1:
            self.is_committing = True
            self._send("COMMIT")

    def _text(self, statement: str, values: Sequence[Any]) -> str:
        text = in_postgres(statement)
        return self._cursor.mogrify(text, values) if values else text

    def _send(self, statement: str) -> Rows:
        text, self._waiting = "; ".join([*self._waiting, statement]), []
        self.is_begun = True
        self._cursor.execute(text)
        # The rows asked for are those of the last statement; the others travelled with it.
        while self._cursor.nextset():
            pass
        return self._cursor.fetchall() if self._cursor.description is not None else []
