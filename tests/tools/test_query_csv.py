import codecs
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner_executor.tools.errors import FileNotReadable, InputRefused, NoSuchFile, PathRefused
from planner_executor.tools.files.root import Root
from planner_executor.tools.query_csv import query_csv

Ask = Callable[..., dict[str, Any]]
SALES = "city,amount,zip\nOslo,10.5,0150\nOslo,2,0151\n\nBergen,,5003\n"


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Write a file and ask about it."""

    def call(content: str | bytes = SALES, sql: str = "SELECT * FROM data", **args: Any) -> dict[str, Any]:
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "a.csv").write_bytes(data)
        tool = query_csv([Root(tmp_path, "workspace")], time_s=10)
        found: dict[str, Any] = tool.invoke({"path": "a.csv", "sql": sql, **args})
        return found

    return call


def test_rows_come_with_how_the_file_was_read(ask: Ask) -> None:
    assert ask() == {
        "path": "a.csv",
        "folder": "workspace",
        "columns": ["city", "amount", "zip"],
        "rows": [
            {"city": "Oslo", "amount": 10.5, "zip": "0150"},
            {"city": "Oslo", "amount": 2.0, "zip": "0151"},
            {"city": "Bergen", "amount": None, "zip": "5003"},
        ],
        "returned": 3,
        "cut": False,
        "cells_cut": 0,
        "table": {
            "rows": 3,
            "delimiter": ",",
            "encoding": "utf-8",
            "uneven_rows": 0,
            "columns": {"city": "text", "amount": "real", "zip": "text"},
        },
    }


def test_sql_filters_sorts_and_adds_up(ask: Ask) -> None:
    sql = "SELECT city, sum(amount) AS total FROM data WHERE city <> ? GROUP BY city"

    assert ask(sql=sql, params=["Bergen"])["rows"] == [{"city": "Oslo", "total": 12.5}]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_recognised(ask: Ask, delimiter: str) -> None:
    content = f'name{delimiter}price\r\n"a, b; c | d"{delimiter}"1,5"\r\n"say ""x""\nagain"{delimiter}2\r\n'

    found = ask(content)

    assert found["table"]["delimiter"] == delimiter
    assert [row["name"] for row in found["rows"]] == ["a, b; c | d", 'say "x"\nagain']


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("é,b\nö,1\n".encode(), "utf-8"),
        (codecs.BOM_UTF8 + "é,b\nö,1\n".encode(), "utf-8"),
        ("é,b\nö,1\n".encode("windows-1252"), "windows-1252"),
        (codecs.BOM_UTF16_LE + "é,b\nö,1\n".encode("utf-16-le"), "utf-16-le"),
    ],
)
def test_the_encoding_is_recognised(ask: Ask, content: bytes, encoding: str) -> None:
    found = ask(content)

    assert (found["rows"], found["table"]["encoding"]) == ([{"é": "ö", "b": 1}], encoding)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2", ""], "integer"),
        (["1", "2.5", " 3 "], "real"),
        (["1e3", "-.5"], "real"),
        (["007", "8"], "text"),
        (["1", "x"], "text"),
        (["1.5", "2", "n/a"], "text"),
        (["1234567890123456789"], "text"),
        (["1.5", "1234567890123456"], "text"),
        (["1,5", "2"], "text"),
        (["+49 30 1234"], "text"),
        (["1e999"], "text"),
        (["-", "."], "text"),
        (["", " "], "text"),
        (["2026-01-01"], "text"),
    ],
)
def test_a_column_is_numeric_only_if_no_digit_is_lost(ask: Ask, cells: list[str], kind: str) -> None:
    content = "n;other\n" + "".join(f"{cell};x\n" for cell in cells)

    assert ask(content)["table"]["columns"]["n"] == kind


def test_names_are_made_different_and_none_is_empty(ask: Ask) -> None:
    content = 'a,A,,"x ""y""; DROP TABLE data",rowid\n1,2,3,4,5\n'

    assert ask(content)["columns"] == ["a", "A_2", "c3", 'x "y"; DROP TABLE data', "rowid"]


def test_without_a_header_columns_are_numbered(ask: Ask) -> None:
    assert ask("1,x\n2,y\n", header=False)["rows"] == [{"c1": 1, "c2": "x"}, {"c1": 2, "c2": "y"}]


def test_rows_of_other_widths_are_kept_and_counted(ask: Ask) -> None:
    found = ask("a,b\n1\n1,2,3\n4,5\n")

    assert found["rows"] == [{"a": 1, "b": None}, {"a": 1, "b": 2}, {"a": 4, "b": 5}]
    assert found["table"]["uneven_rows"] == 2


def test_a_result_over_the_limit_is_cut_and_marked(ask: Ask) -> None:
    assert ask(limit=2)["cut"] is True
    assert ask(limit=3)["cut"] is False


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        (b"\0\1", "not text"),
        ("a," * 600 + "\n", "601"),
    ],
)
def test_a_file_that_is_not_a_table_is_an_error(ask: Ask, content: str | bytes, reason: str) -> None:
    with pytest.raises(InputRefused) as refusal:
        ask(content)

    assert reason in refusal.value.reason


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM data",
        "DROP TABLE data",
        "WITH x AS (SELECT 1) UPDATE data SET city = 'x'",
        "ATTACH '/tmp/x' AS x",
        "SELECT load_extension('x')",
        "SELECT * FROM other",
        "SELECT town FROM data",
        "SELECT readfile('/etc/passwd')",
    ],
)
def test_any_statement_but_a_reading_one_is_refused(ask: Ask, sql: str) -> None:
    with pytest.raises(InputRefused):
        ask(sql=sql)


def test_a_wrong_column_is_answered_with_those_there_are(ask: Ask) -> None:
    with pytest.raises(InputRefused) as refusal:
        ask(sql="SELECT town FROM data")

    assert "data(city, amount, zip)" in refusal.value.reason


def test_the_first_folder_that_has_the_file_is_taken(tmp_path: Path) -> None:
    for folder, text in (("work", "a\n1\n"), ("docs", "a\n2\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "both.csv").write_text(text)
    (tmp_path / "docs" / "one.csv").write_text("a\n3\n")
    tool = query_csv([Root(tmp_path / "work", "workspace"), Root(tmp_path / "docs", "documents")])

    both, one = tool.invoke({"path": "both.csv"}), tool.invoke({"path": "one.csv"})

    assert (both["folder"], both["rows"]) == ("workspace", [{"a": 1}])
    assert (one["folder"], one["rows"]) == ("documents", [{"a": 3}])
    with pytest.raises(NoSuchFile) as missing:
        tool.invoke({"path": "on.csv"})
    assert "one.csv" in missing.value.similar


@pytest.mark.parametrize("path", ["../a.csv", "link.csv", "/etc/passwd", ".env.csv"])
def test_nothing_outside_the_folders_is_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "work" / "link.csv").symlink_to("../a.csv")

    with pytest.raises((PathRefused, FileNotReadable)):
        query_csv([Root(tmp_path / "work", "workspace")]).invoke({"path": path})
