"""One reading statement over an SQLite connection: checked, guarded, bounded, as JSON. Runs in a child process."""

import base64
import json
import math
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Any

from planner_executor.tools.workers.fault import Fault

MOST_BYTES = 1_000_000
_LONGEST_CELL = 10_000
_LONGEST_BLOB = 1_000
_TABLES_NAMED = 20
_COLUMNS_NAMED = 30
_STEPS_BETWEEN_LOOKS = 20_000

_READING = {"SELECT", "WITH", "VALUES"}
_BEFORE = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$))*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+")
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
# Both reach out of the database: one loads a library, the other takes the address of code.
_DENIED_FUNCTIONS = {"load_extension", "fts3_tokenizer"}
_PRAGMAS = {"data_version", "table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list"}
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 10_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 20_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}

Param = str | int | float | bool | None


def statement_fault(sql: str) -> str | None:
    """Return why a statement is refused, or None if its first word is one that only reads.

    >>> statement_fault("-- all\\nselect 1"), statement_fault("DROP TABLE t")
    (None, "only SELECT, WITH and VALUES may be asked, not 'DROP'")
    """
    before = _BEFORE.match(sql)
    word = _WORD.match(sql, before.end() if before else 0)
    if word is None:
        return "it is not an SQL statement; write one SELECT"
    if word.group().upper() not in _READING:
        return f"only SELECT, WITH and VALUES may be asked, not {word.group().upper()!r}"
    return None


def select(
    connection: sqlite3.Connection, sql: str, params: Sequence[Param], limit: int, time_s: float
) -> dict[str, Any]:
    """Return `{columns, rows, returned, cut, cells_cut}`; rows are objects, values are JSON.

    Args:
        connection: In autocommit; its authorizer and limits are set here.
        sql: One statement that reads.
        params: Values for its `?`.
        limit: How many rows at most.
        time_s: The time limit in seconds.

    Raises:
        Fault: It is refused, wrong, or takes too long.
    """
    if reason := statement_fault(sql):
        raise Fault(reason)
    _guard(connection, time.monotonic() + time_s)
    try:
        cursor = connection.execute(sql, params)
        columns = distinct([str(column[0]) for column in cursor.description or ()])
        return _bounded(cursor, columns, limit)
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorname", "") == "SQLITE_INTERRUPT":
            raise Fault(f"it takes longer than {time_s:g} s; narrow it with WHERE or a smaller join") from error
        raise Fault(_error_text(connection, error)) from error
    except OverflowError as error:
        raise Fault("a number in params is beyond 64 bits; give it as text") from error


def _guard(connection: sqlite3.Connection, deadline: float) -> None:
    """Restrict the connection to reading, until the deadline."""
    connection.text_factory = _text
    # The file may be made by a stranger: its views must not call what has an effect, and damaged cells have to show.
    for pragma in ("query_only=ON", "trusted_schema=OFF", "cell_size_check=ON", "temp_store=MEMORY", "mmap_size=0"):
        connection.execute(f"PRAGMA {pragma}")
    for limit, most in _LIMITS.items():
        connection.setlimit(limit, most)
    connection.set_authorizer(_authorize)
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS)


def _authorize(action: int, first: str | None, second: str | None, _database: str | None, _by: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        allowed = second not in _DENIED_FUNCTIONS
    elif action == sqlite3.SQLITE_PRAGMA:
        allowed = first in _PRAGMAS
    elif action == sqlite3.SQLITE_UPDATE:
        allowed = first == "sqlite_master"  # asked when a virtual table is looked at; SQLite lets nobody do it
    else:
        allowed = action in _ALLOWED
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _bounded(cursor: sqlite3.Cursor, columns: list[str], limit: int) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    size, cells_cut, cut = 0, 0, False
    for record in cursor:
        cells = [_cell(value) for value in record]
        row = dict(zip(columns, (cell for cell, _ in cells), strict=True))
        size += len(json.dumps(row))
        # A row more than the limit is read, to know whether any is left out; the first is shown however large it is.
        if len(rows) == limit or (size > MOST_BYTES and rows):
            cut = True
            break
        cells_cut += sum(shortened for _, shortened in cells)
        rows.append(row)
    return {"columns": columns, "rows": rows, "returned": len(rows), "cut": cut, "cells_cut": cells_cut}


def _cell(value: Any) -> tuple[Any, bool]:
    """Return a value as JSON, and whether it was shortened."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value), False
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value[:_LONGEST_BLOB]).decode()}, len(value) > _LONGEST_BLOB
    if isinstance(value, str) and len(value) > _LONGEST_CELL:
        return f"{value[:_LONGEST_CELL]}…", True
    return value, False


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace").replace("\0", "\ufffd")


def distinct(names: list[str], folded: Callable[[str], str] = str) -> list[str]:
    """Return the names with a number behind those that came before, compared as `folded` has them."""
    given: list[str] = []
    for name in names:
        count, chosen = 1, name
        while folded(chosen) in map(folded, given):
            count += 1
            chosen = f"{name}_{count}"
        given.append(chosen)
    return given


def _error_text(connection: sqlite3.Connection, error: sqlite3.Error) -> str:
    """Return the message of an error; if a name is wrong, with the existing names."""
    words = str(error)
    if "no such table" in words or "no such column" in words or "ambiguous" in words:
        return f"{words}; there are {_names(connection)}"
    if "authorized" in words or "prohibited" in words or "readonly" in words:
        return f"{words}: only reading is allowed here"
    return words


def _names(connection: sqlite3.Connection) -> str:
    try:
        listed = (
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY 1"
        )
        tables = [row[0] for row in connection.execute(f"{listed} LIMIT {_TABLES_NAMED}")]
        return ", ".join(f"{table}({', '.join(_columns(connection, table))})" for table in tables) or "no tables"
    except sqlite3.Error as error:
        return f"tables that cannot be listed ({error})"


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    found = connection.execute(f"SELECT name FROM pragma_table_info(?) LIMIT {_COLUMNS_NAMED}", (table,))
    return [row[0] for row in found]
