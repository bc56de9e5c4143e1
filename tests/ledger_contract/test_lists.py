"""Runs are listed, searched, counted and examined, without their events being read."""

from collections.abc import Sequence
from typing import Any

import pytest
from ledger_drivers import Driver, departed, opened, use, write

from planner_executor.graph.errors import LedgerError, StaleRunError
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted

ENDED = drafted("run_ended", {"status": "succeeded", "reason": "1 of 1 steps succeeded", "value": 1})
ASKED = drafted("review_requested", {"asked": ["run_plan"], "error": None, "request": 1})
EXECUTING = drafted("executing", {})


def begun(goal: str = "g", **more: Any) -> Draft:
    return drafted("run_started", {"goal": goal, "constraints": [], **more})


def model(role: str) -> Draft:
    return drafted("model_started", {"role": role, "model": "m"})


async def ids(ledger: RunStore, **wanted: Any) -> list[str]:
    return [run.id for run in await ledger.page(RunFilter(**wanted))]


async def test_a_row_follows_each_event(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        run = await ledger.open_run("t", [begun()])
        rows = [*await ledger.page(RunFilter())]
        for draft in (ASKED, drafted("steered", {"approver": "os:ada"}), ENDED):
            await write(ledger, run, [draft])
            rows += await ledger.page(RunFilter())
        assert await ledger.misindexed() == []
        rows = rows
    assert [(row.seq, row.status) for row in rows] == [(1, "paused"), (2, "waiting"), (3, "paused"), (4, "succeeded")]
    assert rows[-1].people == ("os:ada",) and rows[1].waiting_since == rows[1].updated_at


async def test_runs_with_standing_approvals_of_their_own_are_paged_until_they_end(driver: Driver) -> None:
    bounds: dict[str, Any] = {"args": {}, "at_most": 2, "fingerprint": "f", "policy": "p"}
    given = drafted(
        "standing_given", {**bounds, "id": "a", "tool": "pay", "run": "a.1", "given_by": ["ada"], "given_at": 1.0}
    )

    async with opened(driver) as (ledger,):
        runs = {
            name: await ledger.open_run(name, [begun(), *more])
            for name, more in (
                ("a", [given]),
                ("none", []),
                ("b", [given, given]),
                ("ended", [given, ENDED]),
                ("c", [given, ASKED]),
            )
        }
        pages = [
            await ledger.with_approvals(2),
            await ledger.with_approvals(2, runs["b"]),
            await ledger.with_approvals(2, runs["none"]),
            await ledger.with_approvals(2, RunKey("nowhere", 1)),
        ]
        assert [[run.thread for run in page] for page in pages] == [["c", "b"], ["a"], ["a"], []]


@pytest.mark.parametrize("order", ["latest", "cost", "duration"])
async def test_runs_are_paged_in_an_order_also_of_some_statuses_or_of_one_person(driver: Driver, order: Any) -> None:
    def spent(usd: float) -> Draft:
        return drafted("model_finished", {"key": "k", "usage": {"total_tokens": 1}, "cost_usd": usd})

    async with opened(driver) as (ledger,):
        for name, usd, more in (("a", 0.5, [ENDED]), ("b", 0.0, [ASKED]), ("c", 0.9, [ENDED]), ("d", 0.0, [])):
            by = f"os:{'ada' if name in 'ac' else 'bob'}"
            call = drafted("model_started", {"key": "k", "role": "planner", "model": "m"})
            await ledger.open_run(name, [begun(started_by=by), call, spent(usd), *more])
        rows = await ledger.page(RunFilter())
        wanted = {"latest": lambda _: 0.0, "cost": lambda run: run.cost_usd, "duration": lambda run: run.took_s}[order]
        expected = [run.id for run in sorted(rows, key=wanted, reverse=True)]

        first = await ids(ledger, order=order, limit=2)
        assert [*first, *await ids(ledger, order=order, limit=2, before=first[-1])] == expected
        some = await ids(ledger, order=order, status=("succeeded", "waiting"))
        assert some == [name for name in expected if name != "d.1"]
        assert await ids(ledger, order=order, by="ADA") == [name for name in expected if name in ("a.1", "c.1")]
        assert await ids(ledger, order=order, before="nowhere.1") == []


async def test_what_was_refused_leaves_no_trace_in_row_and_counters(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        run = await ledger.open_run("t", [begun()])
        async with ledger.owned(run) as lease:
            await ledger.append(lease, [drafted("paused", {"reason": "asked"})])
            with pytest.raises(StaleRunError):
                await ledger.append(lease, [ENDED], control_seq=99)
            with pytest.raises(LedgerError, match="cannot store"):
                await ledger.append(lease, [ASKED, drafted("steered", {"approver": float("nan")})])
            await ledger.append(lease, [model("planner")])
        (row,) = await ledger.page(RunFilter())
        assert (row.seq, row.status, row.asks, row.model_calls) == (3, "paused", (), 1)
        assert await ledger.misindexed() == []
        assert (await ledger.counters()).value("questions_total", kind="run_plan") == 0


async def test_what_another_ledger_wrote_is_counted_in(driver: Driver) -> None:
    async with opened(driver, count=2) as (one, other):
        run = await one.open_run("t", [begun()])
        await write(other, run, [model("planner")])
        await write(one, run, [model("executor")])
        (row,) = await one.page(RunFilter())
        assert row.model_calls == 2
        counted = await other.counters()
        assert counted.value("model_calls_total", role="executor", model="m") == 1
        assert counted.value("runs_total") == 1


async def test_pages_are_cut_by_status_tag_start_and_text(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        for n, goal in enumerate(["Offshore WIND", "solar 100%", "wind_power"]):
            run = await ledger.open_run(f"t{n}", [begun(goal, tags=["odd"] if n % 2 else ["even", "all"])])
            if n:
                await write(ledger, run, [ENDED])
        assert await ids(ledger) == ["t2.1", "t1.1", "t0.1"]
        assert await ids(ledger, status="succeeded") == ["t2.1", "t1.1"]
        assert await ids(ledger, status="paused") == ["t0.1"] and await ids(ledger, status="running") == []
        assert await ids(ledger, tag="even") == ["t2.1", "t0.1"] and await ids(ledger, tag="ev") == []
        assert await ids(ledger, text="wind") == ["t2.1", "t0.1"] and await ids(ledger, text="0%") == ["t1.1"]
        assert await ids(ledger, text="d_p") == ["t2.1"] and await ids(ledger, text="T1") == ["t1.1"]
        assert await ids(ledger, text="\\") == [] and await ids(ledger, tag="even", status="succeeded") == ["t2.1"]
        assert await ids(ledger, limit=1) == ["t2.1"] and await ids(ledger, limit=1, before="t2.1") == ["t1.1"]
        assert await ids(ledger, before="t0.1") == await ids(ledger, before="t9.9") == []
        (last,) = await ledger.page(RunFilter(limit=1))
        assert await ids(ledger, since=last.started_at) == ["t2.1"]


async def test_a_run_that_somebody_works_on_is_told_from_one_that_stands_still(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        run = await ledger.open_run("t", [begun()])
        async with ledger.owned(run) as lease:
            await ledger.append(lease, [EXECUTING])
            assert await ids(ledger, status="running") == ["t.1"] and await ids(ledger, status="paused") == []
            driver.own(run, departed())
            assert await ids(ledger, status="running") == [] and await ids(ledger, status="paused") == ["t.1"]
            assert (await ledger.health()).dead == ("t.1",) and not await ledger.is_worked_on(run)
        assert await ids(ledger, status="paused") == ["t.1"]


async def test_a_run_that_has_ended_is_not_to_be_continued_though_its_owner_died(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        run = await ledger.open_run("t", [begun()])
        async with ledger.owned(run) as lease:
            await ledger.append(lease, [drafted("run_ended")])
            driver.own(run, departed())
            assert (await ledger.health()).dead == ()


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
        ("demo.0", []),
        ("demo.²", []),
        ("%", []),
        ("", []),
        ("demo.99999999999999999999", []),
    ],
)
async def test_a_run_is_found_by_id_thread_or_the_beginning_of_it(
    name: str, found: Sequence[tuple[str, int]], driver: Driver
) -> None:
    async with opened(driver) as (ledger,):
        for thread in ("demo", "demo", "abc", "äb", "demo.1"):
            await ledger.open_run(thread, [begun()])
        assert await ledger.named(name) == [RunKey(*run) for run in found]


def test_a_few_of_many_threads_are_named_in_their_order(driver: Driver) -> None:
    async def work(ledger: RunStore) -> list[RunKey]:
        for n in (12, 3, *range(12)):
            await ledger.open_run(f"t{n:02}", [begun()])
        return await ledger.named("t")

    assert [run.id for run in use(driver, work)] == [f"t{n:02}.{2 if n == 3 else 1}" for n in range(9)]


async def test_gauges_count_the_runs_that_wait_and_how_long(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        assert (await ledger.counters()).value("runs_waiting", waits_for="person") == 0
        for thread in "ab":
            await write(ledger, await ledger.open_run(thread, [begun()]), [ASKED])
        counted = await ledger.counters()
        assert counted.value("runs_waiting", waits_for="person") == 2
        assert counted.value("oldest_wait_seconds", waits_for="person") >= 0


async def test_an_index_that_was_changed_is_noticed_and_made_anew(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        for thread in "abc":
            await write(ledger, await ledger.open_run(thread, [begun(tags=["x"])]), [ENDED])
        before = await ledger.page(RunFilter()), await ledger.counters()
        driver.change_index(RunKey("b", 1), "failed")
        assert await ids(ledger, status="failed") == ["b.1"] == await ledger.misindexed()
        assert await ledger.reindex() == 3
        assert (await ledger.page(RunFilter()), await ledger.counters()) == before
        assert await ledger.misindexed() == []
        await write(ledger, RunKey("a", 1), [model("planner")])
        assert await ledger.misindexed() == []


async def test_health_tells_how_much_there_is_and_that_nothing_is_damaged(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        for thread in "ab":
            await ledger.open_run(thread, [begun(), EXECUTING])
        found = await ledger.health()
        assert (found.runs, found.damage, found.dead) == (2, (), ())
        rows, size = found.tables["ledger_events"]
        assert rows == 4 and size > 0
