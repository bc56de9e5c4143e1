"""Redaction of LangGraph's checkpoint tables in the ledger's file; see `docs/decisions/0017-redaction.md`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner_executor.graph.ledger.checkpoint_cells import erased, plain_bytes, with_more_names
from planner_executor.graph.ledger.packed_checkpoint import DICTIONARIES
from planner_executor.graph.ledger.tables.dialect import AMONG, IS_THERE
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.record.redaction import Redactor

TABLES = {"checkpoints": ("checkpoint", "metadata"), "writes": ("value",)}


def erase_checkpoints(db: Transaction, thread: str, redactor: Redactor) -> int:
    """Remove a value from a thread's checkpoints and pending writes; return the number of changed rows.

    Rows of an unknown serializer are left unchanged.
    """
    tables = {table: columns for table, columns in TABLES.items() if db.one(IS_THERE, table)}
    # Names of threads and channels may hold the value too, and are learnt from the rows before any is changed.
    redactor = _with_more_names(db, tables, thread, redactor)
    changed = 0
    for table, columns in tables.items():
        for rowid, kind, *contents in _contents(db, table, columns, thread):
            # Metadata is JSON in whatever way the checkpoint beside it is stored.
            kinds = ["json" if column == "metadata" else kind for column in columns]
            new = [erased(content, kind, redactor) for content, kind in zip(contents, kinds, strict=True)]
            # Only rows that differ are written, so that the count is one of what held the value.
            if new != contents:
                settings = ", ".join(f"{column} = %s" for column in columns)
                db.tell(f"UPDATE {table} SET {settings} WHERE rowid = %s", *new, rowid)
                changed += 1
    return changed


def _contents(db: Transaction, table: str, columns: Sequence[str], thread: str) -> list[Any]:
    return db.ask(f"SELECT rowid, type, {', '.join(columns)} FROM {table} WHERE thread_id = %s", thread)


def _with_more_names(db: Transaction, tables: Mapping[str, Sequence[str]], thread: str, redactor: Redactor) -> Redactor:
    rows = [row for table, columns in tables.items() for row in _contents(db, table, columns, thread)]
    cells = [plain_bytes(row[1], cell) for row in rows for cell in row if isinstance(cell, bytes)]
    brought: list[Any] = []
    if "writes" in tables:
        brought = db.ask("SELECT type, value FROM writes WHERE thread_id = %s AND channel = 'brought'", thread)
    return with_more_names(redactor, cells, [plain_bytes(*row) for row in brought])


def packed_places(db: Transaction, forms: Sequence[str]) -> Iterator[str]:
    """Yield the packed rows that still hold a form of the value, in the wording of `graph.ledger.sqlite.vacuum`."""
    sought = [form.encode("utf-8", "surrogatepass") for form in forms]
    for table, (column, *_) in TABLES.items():
        if not db.one(IS_THERE, table):
            continue
        query = f"SELECT thread_id, type, {column} FROM {table} WHERE type {AMONG}"
        for thread, kind, content in db.ask(query, db.many(DICTIONARIES)):
            text = plain_bytes(kind, content)
            if any(form in text for form in sought):
                yield f"{table} of thread {thread}"
