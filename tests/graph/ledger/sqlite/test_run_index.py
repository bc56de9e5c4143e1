import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from graph.errors import StaleRunError
from graph.ledger.protocol import RunKey
from graph.ledger.sqlite.ledger import SqliteLedger
from graph.record.events import Draft
from graph.record.run_filter import RunFilter
from graph.record.summary import RunSummary

ENDED = Draft("run_ended", {"status": "succeeded", "reason": "1 of 1 steps succeeded", "value": 1})
ASKED = Draft("review_requested", {"asked": ["run_plan"], "error": None, "request": 1})


def begun(goal: str = "g", **more: Any) -> Draft:
    return Draft("run_started", {"goal": goal, "constraints": [], **more})


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


def test_a_row_follows_each_event(tmp_path: Path) -> None:
    async def work() -> list[RunSummary]:
        async with opened(tmp_path / "runs.db") as ledger:
            run = await ledger.open_run("t", [begun()])
            rows = [*await ledger.page(RunFilter())]
            for draft in (ASKED, Draft("steered", {"approver": "os:ada"}), ENDED):
                await written(ledger, run, draft)
                rows += await ledger.page(RunFilter())
            assert await ledger.misindexed() == []
        return rows

    rows = asyncio.run(work())
    assert [(row.seq, row.status) for row in rows] == [(1, "paused"), (2, "waiting"), (3, "paused"), (4, "succeeded")]
    assert rows[-1].people == ("os:ada",) and rows[1].waiting_since == rows[1].updated_at


def test_a_transaction_that_was_rolled_back_leaves_no_trace_in_the_row(tmp_path: Path) -> None:
    async def work() -> None:
        async with opened(tmp_path / "runs.db") as ledger:
            run = await ledger.open_run("t", [begun()])
            async with ledger.owned(run) as lease:
                await ledger.append(lease, [Draft("paused", {"reason": "asked"})])
                with pytest.raises(StaleRunError):
                    await ledger.append(lease, [ENDED], control_seq=99)
                with pytest.raises(Exception, match="cannot hold"):
                    await ledger.append(lease, [ASKED, Draft("steered", {"approver": float("nan")})])
                await ledger.append(lease, [Draft("model_started", {"role": "planner", "model": "m"})])
            (row,) = await ledger.page(RunFilter())
            assert (row.seq, row.status, row.asks, row.model_calls) == (3, "paused", (), 1)
            assert await ledger.misindexed() == []
            assert (await ledger.counters()).value("questions_total", kind="run_plan") == 0

    asyncio.run(work())


def test_what_another_process_wrote_is_folded_in(tmp_path: Path) -> None:
    async def work() -> None:
        async with opened(tmp_path / "runs.db") as one, opened(tmp_path / "runs.db") as other:
            run = await one.open_run("t", [begun()])
            await written(other, run, Draft("model_started", {"role": "planner", "model": "m"}))
            await written(one, run, Draft("model_started", {"role": "executor", "model": "m"}))
            (row,) = await one.page(RunFilter())
            assert row.model_calls == 2
            counted = await other.counters()
            assert counted.value("model_calls_total", role="executor", model="m") == 1
            assert counted.value("runs_total") == 1

    asyncio.run(work())


def test_pages_are_cut_by_status_tag_start_and_text(tmp_path: Path) -> None:
    async def work() -> None:
        async with opened(tmp_path / "runs.db") as ledger:
            for n, goal in enumerate(["Offshore WIND", "solar 100%", "wind_power"]):
                run = await ledger.open_run(f"t{n}", [begun(goal, tags=["odd"] if n % 2 else ["even", "all"])])
                if n:
                    await written(ledger, run, ENDED)
            assert await ids(ledger) == ["t2.1", "t1.1", "t0.1"]
            assert await ids(ledger, status="succeeded") == ["t2.1", "t1.1"]
            assert await ids(ledger, status="paused") == ["t0.1"] and await ids(ledger, status="running") == []
            assert await ids(ledger, tag="even") == ["t2.1", "t0.1"]
            assert await ids(ledger, text="wind") == ["t2.1", "t0.1"] and await ids(ledger, text="0%") == ["t1.1"]
            assert await ids(ledger, text="d_p") == ["t2.1"] and await ids(ledger, text="T1") == ["t1.1"]
            assert await ids(ledger, limit=1) == ["t2.1"] and await ids(ledger, limit=1, before="t2.1") == ["t1.1"]
            assert await ids(ledger, before="t9.9") == []
            (last,) = await ledger.page(RunFilter(limit=1))
            assert await ids(ledger, since=last.started_at) == ["t2.1"]

    asyncio.run(work())


def test_a_run_that_somebody_works_on_is_told_from_one_that_stands_still(tmp_path: Path) -> None:
    async def work() -> None:
        async with opened(tmp_path / "runs.db") as ledger:
            run = await ledger.open_run("t", [begun()])
            async with ledger.owned(run) as lease:
                await ledger.append(lease, [Draft("executing", {})])
                assert await ids(ledger, status="running") == ["t.1"] and await ids(ledger, status="paused") == []
            assert await ids(ledger, status="running") == [] and await ids(ledger, status="paused") == ["t.1"]

    asyncio.run(work())


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("demo.1", [("demo", 1)]),
        ("demo", [("demo", 2)]),
        ("demo.1.1", [("demo.1", 1)]),
        ("dem", [("demo", 2), ("demo.1", 1)]),
        ("a", [("abc", 1)]),
        ("ä", [("äb", 1)]),
        ("demo.3", []),
        ("%", []),
        ("", []),
        ("demo.99999999999999999999", []),
    ],
)
def test_a_run_is_found_by_id_thread_or_the_beginning_of_it(
    name: str, found: Sequence[tuple[str, int]], tmp_path: Path
) -> None:
    async def work() -> list[RunKey]:
        async with opened(tmp_path / "runs.db") as ledger:
            for thread in ("demo", "demo", "abc", "äb", "demo.1"):
                await ledger.open_run(thread, [begun()])
            return await ledger.named(name)

    expected = [RunKey("demo.1", 1)] if name == "demo.1.1" else [RunKey(*run) for run in found]
    assert asyncio.run(work()) == expected


def test_gauges_count_the_runs_that_wait_and_how_long(tmp_path: Path) -> None:
    async def work() -> None:
        async with opened(tmp_path / "runs.db") as ledger:
            assert (await ledger.counters()).value("runs_waiting", waits_for="person") == 0
            for thread in "ab":
                await written(ledger, await ledger.open_run(thread, [begun()]), ASKED)
            counted = await ledger.counters()
            assert counted.value("runs_waiting", waits_for="person") == 2
            assert counted.value("oldest_wait_seconds", waits_for="person") >= 0

    asyncio.run(work())


def test_an_index_that_was_changed_is_noticed_and_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"

    async def work() -> None:
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

    asyncio.run(work())


def test_a_redacted_goal_is_gone_from_the_index(tmp_path: Path) -> None:
    async def work() -> None:
        async with opened(tmp_path / "runs.db") as ledger:
            run = await ledger.open_run("t", [begun("mail ada@example.org", tags=["ada@example.org"])])
            done = await ledger.redact("t", "ada@example.org", "os:ada", "asked for")
            assert done.remaining == ()
            (row,) = await ledger.page(RunFilter())
            assert "ada" not in row.goal and "ada" not in "".join(row.tags)
            assert await ids(ledger, tag="ada@example.org") == [] and await ids(ledger, tag=row.tags[0]) == ["t.1"]
            await written(ledger, run, ENDED)
            assert await ledger.misindexed() == []

    asyncio.run(work())
    assert b"ada@example.org" not in (tmp_path / "runs.db").read_bytes()
