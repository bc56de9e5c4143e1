"""A connection to a ledger's file that answers questions; used on one thread at a time."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any, TypeVar

from planner_executor.graph.errors import LedgerUnavailableError
from planner_executor.graph.ledger.sqlite.schema import VERSION, version_of
from planner_executor.graph.ledger.tables.dialect import in_sqlite
from planner_executor.graph.ledger.tables.reader import Rows

Result = TypeVar("Result")


class ReadingConnection(sqlite3.Connection):
    """A connection that is `graph.ledger.tables.reader.Reader` too."""

    def __init__(self, path: str, timeout: float = 5.0, *, check_same_thread: bool = True) -> None:
        super().__init__(path, timeout=timeout, isolation_level=None, check_same_thread=check_same_thread)
        self.text_factory = _text

    def ask(self, statement: str, *values: Any) -> Rows:
        """Execute a statement and return its rows."""
        return self.execute(in_sqlite(statement), values).fetchall()

    def one(self, statement: str, *values: Any) -> tuple[Any, ...] | None:
        """Return the first row of a statement, or None."""
        row: tuple[Any, ...] | None = self.execute(in_sqlite(statement), values).fetchone()
        return row


Kind = TypeVar("Kind", bound=ReadingConnection)


def read_file(path: str, kind: type[Kind], do: Callable[[Kind], Result]) -> Result | None:
    """Return what a function reads of a file in one transaction.

    None if a ledger has to open it: one of another version is migrated, and of one that cannot be read it says why.
    """
    try:
        with closing(kind(path)) as db:
            db.execute("BEGIN")
            return do(db) if version_of(db) == VERSION else None
    except (sqlite3.Error, LedgerUnavailableError):
        return None


def _text(content: bytes) -> str:
    """Decode text that may be damaged, so that the chain's check can report the event."""
    return content.decode("utf-8", "surrogateescape")
