"""Redaction of LangGraph's checkpoint tables in the ledger's file; see `docs/decisions/0017-redaction.md`."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner_executor.graph.ledger.checkpoint_cells import erased, plain_bytes, with_more_names
from planner_executor.graph.ledger.packed_checkpoint import DICTIONARIES
from planner_executor.graph.record.redaction import Redactor

TABLES = {"checkpoints": ("checkpoint", "metadata"), "writes": ("value",)}


def erase_checkpoints(db: sqlite3.Connection, thread: str, redactor: Redactor) -> int:
    """Remove a value from a thread's checkpoints and pending writes; return the number of changed rows.

    Rows of an unknown serializer are left unchanged.
    """
    tables = {table: columns for table, columns in TABLES.items() if is_there(db, table)}
    redactor = _with_more_names(db, tables, thread, redactor)
    changed = 0
    for table, columns in tables.items():
        for rowid, kind, *contents in _contents(db, table, columns, thread):
            kinds = ["json" if column == "metadata" else kind for column in columns]
            new = [erased(content, kind, redactor) for content, kind in zip(contents, kinds, strict=True)]
            if new != contents:
                settings = ", ".join(f"{column} = ?" for column in columns)
                db.execute(f"UPDATE {table} SET {settings} WHERE rowid = ?", (*new, rowid))
                changed += 1
    return changed


def _contents(db: sqlite3.Connection, table: str, columns: Sequence[str], thread: str) -> list[Any]:
    query = f"SELECT rowid, type, {', '.join(columns)} FROM {table} WHERE thread_id = ?"
    return db.execute(query, (thread,)).fetchall()


def _with_more_names(
    db: sqlite3.Connection, tables: Mapping[str, Sequence[str]], thread: str, redactor: Redactor
) -> Redactor:
    rows = [row for table, columns in tables.items() for row in _contents(db, table, columns, thread)]
    cells = [plain_bytes(row[1], cell) for row in rows for cell in row if isinstance(cell, bytes)]
    brought: list[Any] = []
    if "writes" in tables:
        query = "SELECT type, value FROM writes WHERE thread_id = ? AND channel = 'brought'"
        brought = db.execute(query, (thread,)).fetchall()
    return with_more_names(redactor, cells, [plain_bytes(*row) for row in brought])


def packed_places(db: sqlite3.Connection, forms: Sequence[str]) -> Iterator[str]:
    """Yield the packed rows that still hold a form of the value, in the wording of `graph.ledger.sqlite.vacuum`."""
    sought = [form.encode("utf-8", "surrogatepass") for form in forms]
    for table, (column, *_) in TABLES.items():
        if not is_there(db, table):
            continue
        kinds = ", ".join("?" * len(DICTIONARIES))
        rows = db.execute(f"SELECT thread_id, type, {column} FROM {table} WHERE type IN ({kinds})", [*DICTIONARIES])
        for thread, kind, content in rows:
            text = plain_bytes(kind, content)
            if any(form in text for form in sought):
                yield f"{table} of thread {thread}"


def is_there(db: sqlite3.Connection, table: str) -> bool:
    """Whether the database has a table."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone() is not None
