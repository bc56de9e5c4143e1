"""The index of runs in a file, read without a ledger: lists need no thread, no event loop and no events."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import TypeVar

from planner_executor.graph.errors import LedgerUnavailableError
from planner_executor.graph.ledger.sqlite.reading_connection import ReadingConnection
from planner_executor.graph.ledger.sqlite.schema import VERSION, version_of

Result = TypeVar("Result")


def read_index(path: str, do: Callable[[ReadingConnection], Result]) -> Result | None:
    """Return what a function reads of a file in one transaction.

    None if a ledger has to open it: one of another version is migrated, and of one that cannot be read it says why.
    """
    try:
        with closing(ReadingConnection(path)) as db:
            db.execute("BEGIN")
            return do(db) if version_of(db) == VERSION else None
    except (sqlite3.Error, LedgerUnavailableError):
        return None
