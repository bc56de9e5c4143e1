"""The index of runs in a file, read without a ledger."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from planner_executor.graph.ledger.sqlite.index_file import IndexFile, read_index
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.testing import drafted


async def first(index: IndexFile) -> list[RunSummary]:
    return await index.page(RunFilter(limit=5))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    async def write() -> None:
        ledger = SqliteLedger(found)
        await ledger.open_run("a", [drafted("run_started", {"goal": "count"})])
        await ledger.close()

    found = tmp_path / "runs.db"
    asyncio.run(write())
    return found


def test_it_has_the_rows_that_a_ledger_returns(file: Path) -> None:
    found = read_index(str(file), first)

    assert found is not None and [(run.id, run.goal) for run in found] == [("a.1", "count")]


@pytest.mark.parametrize("change", ["UPDATE ledger_schema SET version = 6", "DROP TABLE ledger_index"])
def test_a_file_that_a_ledger_has_to_open_first_has_none(file: Path, change: str) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute(change)

    assert read_index(str(file), first) is None


def test_what_is_no_database_has_none_and_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database")

    assert read_index(str(tmp_path / "notes.txt"), first) is None
    assert read_index(str(tmp_path / "missing" / "runs.db"), first) is None
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("notes.txt", "no database")]
