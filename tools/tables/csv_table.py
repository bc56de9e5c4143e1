"""A query over a CSV file, which becomes the table `data` of a database in memory. Runs in a child process."""

import csv
import io
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from planner_executor.tools.tables.select import Param, distinct, select
from planner_executor.tools.workers.content import text_of
from planner_executor.tools.workers.fault import Fault

MOST_BYTES = 50_000_000
_MOST_COLUMNS = 500
_LONGEST_NAME = 100
_RECORDS_LOOKED_AT = 50
_CHARACTERS_LOOKED_AT = 100_000
_DELIMITERS = ",;\t|"
_WHOLE = re.compile(r"-?(?:0|[1-9]\d{0,14})", re.ASCII)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})?(?:\.\d+)?(?:[eE][+-]?\d{1,2})?", re.ASCII)

Kind = Literal["integer", "real", "text"]


@dataclass(frozen=True)
class Columns:
    """Names and kinds of the columns.

    A column is numeric if each of its cells is a number or empty. A number with a leading zero or with more digits than
    a float can represent is an identifier, so its column stays text.
    """

    names: list[str]
    kinds: list[Kind]


def query(handle: int, sql: str, params: Sequence[Param], limit: int, header: bool, time_s: float) -> dict[str, Any]:
    """Return the rows of a statement over the table `data`, and how the file was read.

    Args:
        handle: The open file.
        sql: One statement that reads.
        params: Values for its `?`.
        limit: How many rows at most.
        header: Whether the first record names the columns; else they are c1, c2, ...
        time_s: The time limit in seconds.

    Raises:
        Fault: The file is not a table, or the statement is refused.
    """
    decoded = text_of(handle, MOST_BYTES)
    delimiter = delimiter_of(decoded.text)
    columns, count, uneven = _survey(decoded.text, delimiter, header)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _fill(connection, columns, _records(decoded.text, delimiter, header))
        answer = select(connection, sql, params, limit, time_s)
    read = {"rows": count, "delimiter": delimiter, "encoding": decoded.encoding, "uneven_rows": uneven}
    kinds = dict(zip(columns.names, columns.kinds, strict=True))
    return {**answer, "table": {**read, "columns": kinds}}


def delimiter_of(text: str) -> str:
    """Return the delimiter that gives the most records of one width, and then the most columns.

    >>> delimiter_of('name;price\\n"a, b";1,5\\n'), delimiter_of("one column\\n")
    (';', ',')
    """

    def evenness(delimiter: str) -> tuple[int, int]:
        # Strict: the look ends where a closing quote is followed by text, as it is by a delimiter that was not tried.
        sample = csv.reader(io.StringIO(text[:_CHARACTERS_LOOKED_AT], newline=""), delimiter=delimiter, strict=True)
        widths: Counter[int] = Counter()
        # It also ends where the sample is cut within a cell; what was counted so far stays.
        with suppress(csv.Error):
            widths.update(len(record) for record in islice(sample, _RECORDS_LOOKED_AT) if record)
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        return (count, width) if width > 1 else (0, 0)

    return max(_DELIMITERS, key=evenness)


def _survey(text: str, delimiter: str, header: bool) -> tuple[Columns, int, int]:
    """Return the columns, how many records there are, and how many of them are shorter or longer than the first."""
    first = next(_records(text, delimiter, header=False), None)
    if first is None:
        raise Fault("the file is empty")
    if len(first) > _MOST_COLUMNS:
        raise Fault(f"the file has {len(first)} columns; {_MOST_COLUMNS} are the most")
    kinds: list[Kind] = ["integer"] * len(first)
    seen = [False] * len(first)
    count = uneven = 0
    for record in _records(text, delimiter, header):
        count += 1
        uneven += len(record) != len(first)
        for place, cell in enumerate(record[: len(first)]):
            if cell.strip():
                seen[place] = True
                kinds[place] = _widened(kinds[place], cell.strip())
    names = _names(first) if header else [f"c{number}" for number in range(1, len(first) + 1)]
    return Columns(names, [kind if held else "text" for kind, held in zip(kinds, seen, strict=True)]), count, uneven


def _widened(kind: Kind, cell: str) -> Kind:
    """Return the narrowest kind that holds this cell too."""
    if kind == "text" or (kind == "integer" and _WHOLE.fullmatch(cell)):
        return kind
    # Every part of the pattern may be left out, so `-` alone fits it.
    return "real" if any(sign.isdigit() for sign in cell) and _NUMBER.fullmatch(cell) else "text"


def _records(text: str, delimiter: str, header: bool) -> Iterator[list[str]]:
    """Yield the records, without empty lines and without a header."""
    # Python's own limit of 128 KB a cell is for files of any size; this one is bounded as a whole.
    csv.field_size_limit(MOST_BYTES)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        yield from islice((record for record in reader if record), int(header), None)
    except csv.Error as error:
        raise Fault(f"line {reader.line_num} is not CSV: {error}") from error


def _names(cells: list[str]) -> list[str]:
    """Return names that differ, upper and lower case aside, and are not empty."""
    names = [" ".join(cell.split())[:_LONGEST_NAME] or f"c{number}" for number, cell in enumerate(cells, 1)]
    return distinct(names, str.casefold)


def _fill(connection: sqlite3.Connection, columns: Columns, records: Iterator[list[str]]) -> None:
    described = [f"{_quoted(name)} {kind.upper()}" for name, kind in zip(columns.names, columns.kinds, strict=True)]
    connection.execute(f"CREATE TABLE data ({', '.join(described)})")
    marks = ", ".join("?" * len(columns.names))
    connection.execute("BEGIN")
    connection.executemany(f"INSERT INTO data VALUES ({marks})", (_cells(record, columns.kinds) for record in records))
    connection.execute("COMMIT")


def _cells(record: list[str], kinds: list[Kind]) -> list[Param]:
    """Return a record's cells, empty ones as null, none missing and none too many."""
    cells = [*record[: len(kinds)], *[""] * (len(kinds) - len(record))]
    return [_value(cell, kind) for cell, kind in zip(cells, kinds, strict=True)]


def _value(cell: str, kind: Kind) -> Param:
    if not cell.strip():
        return None
    if kind == "integer":
        return int(cell)
    return float(cell) if kind == "real" else cell


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
