import csv
import io
import json
import os
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from planner_executor.tools.tables.csv_table import query
from planner_executor.tools.workers.fault import Fault

NAMES = ("city", "say; it", "a, b")
CELLS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\r"), min_size=1, max_size=8)
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6)


def asked(tmp_path: Path, content: bytes, sql: str = "SELECT * FROM data") -> dict[str, Any]:
    (tmp_path / "a.csv").write_bytes(content)
    with (tmp_path / "a.csv").open("rb", buffering=0) as stream:
        return query(os.dup(stream.fileno()), sql, [], 100, True, 5)


@settings(deadline=None)
@given(rows=ROWS, delimiter=st.sampled_from(",;\t|"))
@example(rows=[("0", ",\n", ",")], delimiter=";")  # by lines, commas would give more records
def test_what_was_written_is_read_again(tmp_path: Path, rows: list[tuple[str, str, str]], delimiter: str) -> None:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([NAMES, *rows])

    found = asked(tmp_path, stream.getvalue().encode())

    assert found["table"]["delimiter"] == delimiter and found["returned"] == len(rows)
    for row, written in zip(found["rows"], rows, strict=True):
        for name, cell in zip(NAMES, written, strict=True):
            read, kind = row[name], found["table"]["columns"][name]
            if kind == "text":
                assert read == (cell if cell.strip() else None)
            else:
                assert read == (float(cell) if cell.strip() else None)


def test_records_before_a_misplaced_quote_tell_the_delimiter(tmp_path: Path) -> None:
    content = b'a;b;c\n1;2;3\n"4" x;5,5;6\n'

    assert asked(tmp_path, content)["table"]["delimiter"] == ";"


def test_a_cell_that_is_longer_than_the_look_does_not_hide_the_delimiter(tmp_path: Path) -> None:
    content = f'a;b\n1;2\n"{"x, " * 40_000}";3\n'.encode()

    found = asked(tmp_path, content, "SELECT b FROM data")

    assert (found["table"]["delimiter"], found["rows"]) == (";", [{"b": 2}, {"b": 3}])


@settings(deadline=None)
@given(st.binary(max_size=300) | st.text(st.sampled_from('a1,;|\t"\n\r .-é'), max_size=80).map(str.encode))
def test_whatever_a_file_holds_the_answer_is_json_or_a_fault(tmp_path: Path, content: bytes) -> None:
    try:
        found = asked(tmp_path, content)
    except Fault as fault:
        assert fault.reason
    else:
        json.dumps(found, allow_nan=False).encode()
