"""A position in a file whose rows were removed or numbered anew is not known any more."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.testing import drafted

STARTED = drafted("run_started", {"goal": "g", "constraints": []})


@pytest.mark.parametrize("position", ["7.0011223344556677", "2.0011223344556677", "two", ""])
async def test_an_unknown_position_says_that_any_run_may_have_changed(tmp_path: Path, position: str) -> None:
    ledger = open_ledger(tmp_path / "runs.db")
    for thread in "ab":
        await ledger.open_run(thread, [STARTED])
    found = await ledger.changes(position)
    assert not found.is_complete and found.position == (await ledger.changes()).position
    await ledger.close()


async def test_a_number_given_again_after_its_row_was_removed_is_noticed(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "runs.db")
    await ledger.open_run("a", [STARTED])
    since = (await ledger.changes()).position
    with closing(sqlite3.connect(tmp_path / "runs.db")) as db, db:
        db.execute("DELETE FROM ledger_events")
    await ledger.open_run("b", [STARTED])
    assert not (await ledger.changes(since)).is_complete
    await ledger.close()
