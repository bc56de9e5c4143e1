import math
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from planner_executor.tools.errors import InputRefused, NoSuchFile, PathRefused
from planner_executor.tools.files.root import Place, Root
from planner_executor.tools.query_sqlite import query_sqlite
from planner_executor.tools.tables.database import query
from planner_executor.tools.url_display import shortened
from planner_executor.tools.workers.fault import Fault

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    with closing(sqlite3.connect(work / "shop.db")) as connection:
        connection.executescript(
            """
            CREATE TABLE sales(city TEXT, amount REAL);
            INSERT INTO sales VALUES ('Oslo', 10.5), ('Oslo', 2), ('Bergen', 7);
            CREATE VIRTUAL TABLE notes USING fts5(text);
            INSERT INTO notes VALUES ('a windy day'), ('a calm day');
            CREATE VIEW cities AS SELECT DISTINCT city FROM sales;
            """
        )
    return work


@pytest.fixture
def ask(folder: Path) -> Ask:
    tool = query_sqlite([Root(folder, "workspace")], time_s=1)
    return lambda sql="", path="shop.db", **args: tool.invoke({"path": path, "sql": sql, **args})


def test_rows_come_as_objects(ask: Ask) -> None:
    found = ask("SELECT city, sum(amount) AS total FROM sales GROUP BY city ORDER BY city")

    assert found == {
        "path": "shop.db",
        "folder": "workspace",
        "columns": ["city", "total"],
        "rows": [{"city": "Bergen", "total": 7.0}, {"city": "Oslo", "total": 12.5}],
        "returned": 2,
        "cut": False,
        "cells_cut": 0,
    }


def test_without_sql_the_tables_are_listed(ask: Ask) -> None:
    names = [row["name"] for row in ask()["rows"]]

    assert {"sales", "cities", "notes"} <= set(names)


def test_values_are_bound_and_never_read_as_sql(ask: Ask) -> None:
    hostile = "x' OR 1=1; DROP TABLE sales; --"

    assert ask("SELECT * FROM sales WHERE city = ?", params=[hostile])["rows"] == []
    assert ask("SELECT ? AS a, ? AS b, ? AS c", params=[1, None, True])["rows"] == [{"a": 1, "b": None, "c": 1}]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT text FROM notes WHERE notes MATCH 'windy'",
        "SELECT * FROM cities",
        "SELECT name FROM pragma_table_info('sales')",
        "SELECT value FROM json_each('[1, 2]')",
        "-- a comment\n /* and another */ select 1",
        "VALUES (1), (2)",
        "WITH n AS (SELECT 1 AS i) SELECT i FROM n",
        "SELECT city, row_number() OVER (ORDER BY amount) FROM sales",
    ],
)
def test_reading_statements_are_answered(ask: Ask, sql: str) -> None:
    assert ask(sql)["returned"] >= 1


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO sales VALUES ('x', 1)",
        "DELETE FROM sales",
        "UPDATE sales SET amount = 0",
        "DROP TABLE sales",
        "CREATE TABLE t(a)",
        "CREATE TEMP TABLE t(a)",
        "REPLACE INTO sales VALUES ('x', 1)",
        "WITH x AS (SELECT 1) DELETE FROM sales",
        "WITH x AS (SELECT 1) INSERT INTO sales SELECT 'x', 1",
        "WITH x AS (SELECT 1) UPDATE sqlite_master SET sql = 'x'",
        "SELECT 1; DROP TABLE sales",
        "PRAGMA journal_mode = WAL",
        "PRAGMA query_only = OFF",
        "SELECT * FROM pragma_journal_mode('wal')",
        "SELECT * FROM pragma_database_list",
        "ATTACH '/etc/passwd' AS other",
        "ATTACH ':memory:' AS other",
        "DETACH main",
        "VACUUM INTO 'copy.db'",
        "VACUUM",
        "REINDEX",
        "ANALYZE",
        "BEGIN",
        "SAVEPOINT s",
        "EXPLAIN SELECT 1",
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT readfile('/etc/passwd')",
        "SELECT writefile('x', 'y')",
        "INSERT INTO notes(notes) VALUES ('rebuild')",
        "--",
        "/* SELECT",
        ";",
        "42",
        "SELECT",
        "SELECT\0 1",
    ],
)
def test_any_writing_statement_is_refused_and_changes_nothing(ask: Ask, folder: Path, sql: str) -> None:
    before = (folder / "shop.db").read_bytes()

    with pytest.raises(InputRefused) as refusal:
        ask(sql)

    assert str(refusal.value).startswith(f"'shop.db' has no answer to {shortened(sql)!r}: ")
    assert (folder / "shop.db").read_bytes() == before
    assert [file.name for file in folder.iterdir()] == ["shop.db"]


@pytest.mark.parametrize("sql", ["SELECT town FROM sales", "SELECT * FROM sale"])
def test_a_wrong_name_is_answered_with_the_names_there_are(ask: Ask, sql: str) -> None:
    with pytest.raises(InputRefused) as refusal:
        ask(sql)

    assert "sales(city, amount)" in refusal.value.reason


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
        "SELECT count(*) FROM (VALUES (1),(2),(3),(4)) a, (SELECT value FROM json_each('[" + "1," * 999 + "1]')) b, "
        "(SELECT value FROM json_each('["
        + "1," * 999
        + "1]')) c, (SELECT value FROM json_each('["
        + "1," * 999
        + "1]'))",
    ],
)
def test_a_statement_without_end_is_ended(ask: Ask, sql: str) -> None:
    with pytest.raises(InputRefused) as refusal:
        ask(sql)

    assert "longer than 1 s" in refusal.value.reason


@pytest.mark.parametrize(
    "sql", ["SELECT randomblob(1000000000)", "SELECT group_concat(hex(zeroblob(5000000))) FROM sales, sales"]
)
def test_a_value_without_bound_is_refused(ask: Ask, sql: str) -> None:
    with pytest.raises(InputRefused):
        ask(sql)


def test_rows_and_cells_are_bounded_and_marked(ask: Ask) -> None:
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"

    assert (ask(many, limit=3)["rows"], ask(many, limit=3)["cut"]) == ([{"i": 1}, {"i": 2}, {"i": 3}], True)
    assert ask(f"{many} LIMIT 3", limit=3)["cut"] is False
    wide = ask("SELECT hex(zeroblob(20000)) AS a, zeroblob(3000) AS b")
    assert (len(wide["rows"][0]["a"]), wide["cells_cut"], wide["cut"]) == (10_001, 2, False)
    heavy = ask(f"SELECT hex(zeroblob(4000)) FROM ({many})", limit=5000)
    assert heavy["cut"] is True and heavy["returned"] < 200


def test_values_are_what_json_has(ask: Ask) -> None:
    row = ask(
        "SELECT 1e999 AS inf, x'00ff' AS blob, NULL AS none, 9223372036854775807 AS wide, "
        "CAST(x'61ff00' AS TEXT) AS odd, 0.5 AS half, 'é' AS é, 1 AS half"
    )["rows"][0]

    assert row == {
        "inf": "inf", "blob": {"base64": "AP8="}, "none": None, "wide": 2**63 - 1, "odd": "a\ufffd\ufffd",
        "half": 0.5, "é": "é", "half_2": 1,
    }  # fmt: skip
    assert not any(isinstance(value, float) and not math.isfinite(value) for value in row.values())


def test_a_number_beyond_64_bits_is_refused_with_a_way_out(ask: Ask) -> None:
    with pytest.raises(InputRefused) as refusal:
        ask("SELECT ?", params=[2**64])

    assert "as text" in refusal.value.reason


def test_a_file_that_is_not_a_database_is_an_error(ask: Ask, folder: Path) -> None:
    (folder / "a.txt").write_text("words")
    (folder / "empty.db").write_bytes(b"")
    (folder / "broken.db").write_bytes((folder / "shop.db").read_bytes()[:2000])

    for path in ("a.txt", "empty.db", "broken.db"):
        with pytest.raises(InputRefused):
            ask("SELECT * FROM sales", path)
    with pytest.raises(NoSuchFile):
        ask("SELECT 1", "nowhere.db")


def test_a_database_that_others_write_to_is_read_and_nothing_is_left_beside_it(ask: Ask, folder: Path) -> None:
    with closing(sqlite3.connect(folder / "live.db")) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE t(a)")
        writer.execute("INSERT INTO t VALUES (1)")
        writer.commit()

        assert ask("SELECT * FROM t", "live.db")["rows"] == [{"a": 1}]
        assert (folder / "live.db-wal").exists()

    before = sorted(file.name for file in folder.iterdir())
    assert ask("SELECT * FROM t", "live.db")["rows"] == [{"a": 1}]
    assert sorted(file.name for file in folder.iterdir()) == before == ["live.db", "shop.db"]


def test_a_write_ahead_log_that_nobody_has_open_is_an_error(ask: Ask, folder: Path) -> None:
    with closing(sqlite3.connect(folder / "live.db")) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE t(a)")
        for name in ("live.db", "live.db-wal"):
            (folder / name.replace("live", "left")).write_bytes((folder / name).read_bytes())

    with pytest.raises(InputRefused) as refusal:
        ask("SELECT * FROM t", "left.db")

    assert "write-ahead log" in refusal.value.reason
    assert not (folder / "left.db-shm").exists()


def test_an_open_transaction_is_an_error_that_names_it(ask: Ask, folder: Path) -> None:
    with closing(sqlite3.connect(folder / "shop.db", isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")

        with pytest.raises(InputRefused) as refusal:
            ask("SELECT * FROM sales")

    assert "another process is writing" in refusal.value.reason


@pytest.mark.parametrize("path", ["../other.db", "link.db", "hard.db", "sub/link.db", ".hidden.db", "/tmp/x.db"])
def test_nothing_outside_the_folder_is_read(ask: Ask, folder: Path, path: str) -> None:
    other = folder.parent / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE secret(a)")
    (folder / "link.db").symlink_to(other)
    (folder / "sub").symlink_to(folder.parent)
    os.link(other, folder / "hard.db")

    with pytest.raises(PathRefused):
        ask("SELECT * FROM secret", path)


class Exchanging(Root):
    """A root whose database is exchanged right after it was found to be all right."""

    def check_own(self, place: Place) -> None:
        super().check_own(place)
        (self.path / place.path).unlink()
        (self.path / place.path).symlink_to(self.path.parent / "other.db")


def test_a_database_exchanged_for_a_link_in_the_last_moment_is_not_read(folder: Path) -> None:
    with closing(sqlite3.connect(folder.parent / "other.db")) as connection:
        connection.execute("CREATE TABLE secret(a)")

    with pytest.raises((InputRefused, PathRefused, NoSuchFile)) as refusal:
        query_sqlite([Exchanging(folder, "workspace")]).invoke({"path": "shop.db", "sql": "SELECT * FROM secret"})

    assert "no such table" not in str(refusal.value)


EXCHANGE = """
import ctypes, os, sys
os.chdir(sys.argv[1])
system = ctypes.CDLL(None)
while True:
    if sys.platform == "darwin":
        system.renamex_np(b"shop.db", b"trap.db", 2)
    else:
        system.renameat2(-100, b"shop.db", -100, b"trap.db", 2)
"""


def test_in_a_race_no_other_database_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with closing(sqlite3.connect(folder.parent / "other.db")) as connection:
        connection.executescript("CREATE TABLE sales(city); INSERT INTO sales VALUES ('secret')")
    (folder / "trap.db").symlink_to(folder.parent / "other.db")
    handle = os.open(folder, os.O_RDONLY)
    read: set[str] = set()
    noticed = 0
    with subprocess.Popen([sys.executable, "-I", "-c", EXCHANGE, str(folder)]) as exchanging:
        for _ in range(20_000):
            try:
                read |= {row["city"] for row in query(handle, "shop.db", "SELECT city FROM sales", [], 9, 5)["rows"]}
            except Fault as fault:
                noticed += "exchanged" in fault.reason
            if noticed > 20 and read:
                break
        exchanging.kill()
    os.close(handle)

    assert read == {"Oslo", "Bergen"} and noticed > 20


def test_the_locks_of_a_database_that_this_process_has_open_are_kept(ask: Ask, folder: Path) -> None:
    with closing(sqlite3.connect(folder / "shop.db", isolation_level=None)) as owner:
        owner.execute("BEGIN IMMEDIATE")
        assert ask("SELECT count(*) AS n FROM sales")["rows"] == [{"n": 3}]

        other = sqlite3.connect(folder / "shop.db", timeout=0, isolation_level=None)
        with closing(other), pytest.raises(sqlite3.OperationalError):
            other.execute("BEGIN IMMEDIATE")
        owner.execute("INSERT INTO sales VALUES ('Voss', 1)")
        owner.execute("COMMIT")
    assert ask("SELECT count(*) AS n FROM sales")["rows"] == [{"n": 4}]


def test_several_queries_at_once_do_not_disturb_each_other(ask: Ask) -> None:
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(ask("SELECT count(*) AS n FROM sales"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [answer["rows"] for answer in found] == [[{"n": 3}]] * 4
