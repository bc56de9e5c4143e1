import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.tools.tables.select import select, statement_fault
from planner_executor.tools.workers.fault import Fault

WORDS = """
SELECT WITH VALUES INSERT INTO UPDATE DELETE FROM REPLACE DROP CREATE TABLE TEMP VIEW INDEX TRIGGER ATTACH DETACH
DATABASE PRAGMA VACUUM REINDEX ANALYZE BEGIN COMMIT ROLLBACK SAVEPOINT RELEASE EXPLAIN ALTER SET WHERE AS ( ) , ; * = 1
'x' x t a b sqlite_master sqlite_schema sql name writable_schema query_only ON OFF main load_extension RETURNING DEFAULT
ORDER BY LIMIT UNION ALL -- /* */ ? json_each pragma_query_only recursive zeroblob
"""
STATEMENTS = st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=12).map(" ".join)
WRITES = st.sampled_from(
    [
        "INSERT INTO t VALUES (9, 9)", "UPDATE t SET a = 0", "DELETE FROM t", "DROP TABLE t", "CREATE TABLE u(a)",
        "REPLACE INTO t VALUES (1, 1)", "ALTER TABLE t RENAME TO u", "PRAGMA user_version = 7", "VACUUM",
        "INSERT INTO t SELECT 9, 9 RETURNING a", "PRAGMA query_only = OFF", "UPDATE sqlite_master SET sql = ''",
    ]
)  # fmt: skip
BEFORE = st.sampled_from(
    ["", "WITH x AS (SELECT 1) ", "SELECT 1; ", "-- c\n", "/* c */", "EXPLAIN ", "( ", ";", "VALUES (1); "]
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.executescript("CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    return tmp_path / "a.db"


@settings(deadline=None, max_examples=400)
@given(sql=STATEMENTS | st.builds(str.__add__, BEFORE, WRITES))
def test_no_statement_changes_anything_even_if_the_file_is_open_for_writing(file: Path, sql: str) -> None:
    before = file.read_bytes()
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        try:
            found = select(connection, sql, [], 10, 5)
            json.dumps(found, allow_nan=False)
        except Fault as fault:
            assert fault.reason

        assert not connection.in_transaction and connection.total_changes == 0
    assert file.read_bytes() == before
    assert [each.name for each in file.parent.iterdir()] == ["a.db"]


@given(st.text(max_size=60))
def test_a_statement_that_passes_the_check_begins_like_one_that_reads(sql: str) -> None:
    if statement_fault(sql) is None:
        assert any(word in sql.upper() for word in ("SELECT", "WITH", "VALUES"))
