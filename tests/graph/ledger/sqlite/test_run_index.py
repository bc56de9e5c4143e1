"""The tables of the index."""

import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from planner_executor.graph.ledger.chaining import chained
from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.ledger.tables.run_index import RunIndex
from planner_executor.graph.ledger.tables.runs import head_of
from planner_executor.graph.ledger.tables.schema import create
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted

ENDED = drafted("run_ended", {"status": "succeeded", "reason": "1 of 1 steps succeeded", "value": 1})
CALLED = drafted("call_started", {"tool": "look"}, "a")
ASKED = drafted("review_requested", {"asked": ["run_plan"], "error": None, "request": 1})


def begun(goal: str = "g", **more: Any) -> Draft:
    return drafted("run_started", {"goal": goal, "constraints": [], **more})


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[SqliteLedger]:
    ledger = SqliteLedger(path)
    try:
        yield ledger
    finally:
        await ledger.close()


async def written(ledger: SqliteLedger, run: RunKey, *drafts: Draft) -> None:
    async with ledger.owned(run) as lease:
        await ledger.append(lease, drafts)


async def ids(ledger: SqliteLedger, **wanted: Any) -> list[str]:
    return [run.id for run in await ledger.page(RunFilter(**wanted))]


async def test_an_index_that_was_changed_is_noticed_and_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"

    async with opened(path) as ledger:
        for thread in "abc":
            await written(ledger, await ledger.open_run(thread, [begun(tags=["x"])]), ENDED)
        before = await ledger.page(RunFilter()), await ledger.counters()
        with closing(sqlite3.connect(path)) as db:
            db.execute("UPDATE ledger_index SET status = 'failed' WHERE run = 1")
            db.execute("DELETE FROM ledger_index WHERE run = 2")
            db.execute("DELETE FROM ledger_tags WHERE run = 3")
            db.execute("UPDATE ledger_counters SET value = 77")
            db.commit()
        assert await ledger.misindexed() == ["a.1", "b.1", "c.1"]
        assert await ledger.reindex() == 3
        assert (await ledger.page(RunFilter()), await ledger.counters()) == before
        assert await ledger.misindexed() == []


async def test_a_run_that_another_process_left_is_indexed_from_what_was_read(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"

    async with opened(path) as ledger:
        run = await ledger.open_run("a", [begun("find wind", tags=["x"])])
        await written(ledger, run, CALLED)
    async with opened(path) as ledger:
        await ledger.latest("a")
        with closing(sqlite3.connect(path)) as db:  # a second read of the event would find no goal
            db.execute("UPDATE ledger_events SET payload = '{}' WHERE kind = 'run_started'")
            db.commit()
        await written(ledger, run, ENDED)
        assert await ids(ledger, status="succeeded", text="wind", tag="x") == ["a.1"]
        assert (await ledger.counters()).value("runs_total") == 1


async def test_a_value_that_was_removed_after_a_run_was_read_is_not_indexed_again(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"

    async with opened(path) as ledger:
        run = await ledger.open_run("a", [begun("find hunter2 hunter2")])
    async with opened(path) as ledger:
        await ledger.latest("a")
        await ledger.redact("a", "hunter2 hunter2", by="ana", reason="secret")
        assert "hunter2" not in (await ledger.page(RunFilter()))[0].goal
        await ledger.latest("a")
        await written(ledger, run, ENDED)
        assert await ledger.misindexed() == []


async def test_a_row_that_is_gone_is_written_whole_at_the_next_event(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"

    async with opened(path) as ledger:
        run = await ledger.open_run("a", [begun("find wind", tags=["x"])])
        with closing(sqlite3.connect(path)) as db:
            db.execute("DELETE FROM ledger_index")
            db.commit()
        await written(ledger, run, ENDED)
        assert await ids(ledger, status="succeeded", text="wind", tag="x") == ["a.1"]
        assert await ledger.misindexed() == []


def test_an_event_writes_only_the_columns_that_it_changes() -> None:
    statements: list[str] = []
    with closing(Connection(":memory:")) as db:
        create(db)
        db.execute("INSERT INTO ledger_runs (id, thread, n) VALUES (1, 'a', 1)")
        index = RunIndex()
        _, (begins, first, second) = chained([begun(), CALLED, CALLED], 0, b"")
        head = head_of(db, "db", RunKey("a", 1))._replace(link=b"")
        index.add(db, head, [begins], b"1")
        db.set_trace_callback(statements.append)
        index.add(db, head._replace(link=b"1"), [first], b"2")
        index.add(db, head._replace(link=b"2"), [second], b"3")
        columns = [re.findall(r"(\w+) = ", statement) for statement in statements]

    assert columns == [["seq", "status", "tool_calls", "updated_at", "run"], ["seq", "tool_calls", "updated_at", "run"]]


async def test_a_redacted_goal_is_gone_from_the_index(tmp_path: Path) -> None:
    async with opened(tmp_path / "runs.db") as ledger:
        run = await ledger.open_run("t", [begun("mail ada@example.org", tags=["ada@example.org"])])
        done = await ledger.redact("t", "ada@example.org", "os:ada", "asked for")
        assert done.remaining == ()
        (row,) = await ledger.page(RunFilter())
        assert "ada" not in row.goal and "ada" not in "".join(row.tags)
        assert await ids(ledger, tag="ada@example.org") == [] and await ids(ledger, tag=row.tags[0]) == ["t.1"]
        await written(ledger, run, ENDED)
        assert await ledger.misindexed() == []
    assert b"ada@example.org" not in (tmp_path / "runs.db").read_bytes()
