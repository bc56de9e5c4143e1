"""What questions to the tables need of a driver."""

from typing import Any, Protocol

Rows = list[tuple[Any, ...]]


class Reader(Protocol):
    """A transaction that is open; statements are written as `graph.ledger.tables.dialect` has them."""

    def ask(self, statement: str, *values: Any) -> Rows:
        """Execute a statement and return its rows."""

    def one(self, statement: str, *values: Any) -> tuple[Any, ...] | None:
        """Return the first row of a statement, or None."""
