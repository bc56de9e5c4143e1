"""Redaction of LangGraph's checkpoint tables in the ledger's file; see `docs/decisions/0017-redaction.md`."""

import json
import re
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import ormsgpack

from graph.ledger.sqlite.packed import PACKED, pack, unpack
from graph.record.redaction import DIGEST, MARK, NAME, Redactor

TABLES = {"checkpoints": ("checkpoint", "metadata"), "writes": ("value",)}
DIGESTS = (re.compile(rb"-asks-([0-9a-f]{16})"), re.compile(rb"\xa7brought\xd9@([0-9a-f]{64})"))
"""Digests found only in checkpoints: in the ids of review messages, and of a plan brought by the caller."""


def erase_checkpoints(db: sqlite3.Connection, thread: str, redactor: Redactor) -> int:
    """Remove a value from a thread's checkpoints and pending writes; return the number of changed rows.

    Rows of an unknown serializer are left unchanged.
    """
    tables = {table: columns for table, columns in TABLES.items() if _is_there(db, table)}
    redactor = _with_more_names(db, tables, thread, redactor)
    changed = 0
    for table, columns in tables.items():
        for rowid, kind, *contents in _contents(db, table, columns, thread):
            kinds = ["json" if column == "metadata" else kind for column in columns]
            new = [_erased(content, kind, redactor) for content, kind in zip(contents, kinds, strict=True)]
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
    """Return the redactor with new names for digests found only here, if the runs' digests are renamed too."""
    if not redactor.names:
        return redactor
    rows = [row for table, columns in tables.items() for row in _contents(db, table, columns, thread)]
    cells = [_plain(row[1], cell) for row in rows for cell in row if isinstance(cell, bytes)]
    found = {name.decode() for cell in cells for digest in DIGESTS for name in digest.findall(cell)}
    if "writes" in tables:
        brought = db.execute("SELECT type, value FROM writes WHERE thread_id = ? AND channel = 'brought'", (thread,))
        found |= {name for row in brought for name in DIGEST.findall(_plain(*row).decode("latin-1"))}
    more = {name: NAME + secrets.token_hex(8) for name in sorted(found)}
    return replace(redactor, names={**more, **redactor.names})


def _erased(content: Any, kind: str, redactor: Redactor) -> Any:
    if not isinstance(content, bytes) or kind not in ("msgpack", "json", PACKED):
        return content
    try:
        if kind == PACKED:
            plain = unpack(content)
            new = _repacked(plain, redactor)
            return pack(new) if new != plain else content
        if kind == "msgpack":
            return _repacked(content, redactor)
        found = json.loads(content)
    except ValueError:  # not written by LangGraph's serializer or ours
        return content
    new = redactor.json(found)
    return json.dumps(new, ensure_ascii=False).encode() if new != found else content


def _plain(kind: str, content: bytes) -> bytes:
    """Return a cell's unpacked bytes; the metadata of a packed checkpoint is not packed."""
    try:
        return unpack(content) if kind == PACKED else content
    except ValueError:
        return content


def packed_places(db: sqlite3.Connection, forms: Sequence[str]) -> Iterator[str]:
    """Yield the packed rows that still hold a form of the value, in the wording of `graph.ledger.sqlite.vacuum`."""
    sought = [form.encode("utf-8", "surrogatepass") for form in forms]
    for table, (column, *_) in TABLES.items():
        if not _is_there(db, table):
            continue
        rows = db.execute(f"SELECT thread_id, {column} FROM {table} WHERE type = ?", (PACKED,))
        for thread, content in rows:
            plain = _plain(PACKED, content)
            if any(form in plain for form in sought):
                yield f"{table} of thread {thread}"


def _repacked(data: bytes, redactor: Redactor) -> bytes:
    """Return packed data without the value; nested objects are redacted as bytes, never instantiated."""

    def within(code: int, inner: bytes) -> Any:
        return ormsgpack.Ext(code, _repacked(inner, redactor))

    found = ormsgpack.unpackb(data, ext_hook=within, option=ormsgpack.OPT_NON_STR_KEYS)
    return ormsgpack.packb(redactor.json(_without_echo(found, redactor)), option=ormsgpack.OPT_NON_STR_KEYS)


def _without_echo(found: Any, redactor: Redactor) -> Any:
    """Return unpacked data; an assistant message that may repeat the value in Markdown is replaced as a whole."""
    if isinstance(found, list | tuple):
        return type(found)(_without_echo(item, redactor) for item in found)
    if isinstance(found, dict) and found.get("type") == "ai" and redactor.may_echo_in(str(found.get("content"))):
        return {**found, "content": MARK}
    return found


def _is_there(db: sqlite3.Connection, table: str) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone() is not None
