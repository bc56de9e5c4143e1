"""An append that rests on an earlier decision is refused once there is a later one."""

import asyncio
from typing import Any

import pytest
from ledger_drivers import NOTE, STARTED, Driver, opened, use, write

from planner_executor.graph.errors import StaleRunError
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.record.events import CONTROL, Event
from planner_executor.graph.record.values import keep
from planner_executor.graph.testing import drafted


@pytest.mark.parametrize("kind", CONTROL)
def test_an_author_who_missed_a_decision_writes_nothing(driver: Driver, kind: str) -> None:
    async def work(ledger: RunStore) -> list[Event]:
        run = await ledger.open_run("t", [STARTED])
        seen = await write(ledger, run, [drafted("decided", {})])
        await write(ledger, run, [drafted(kind, {})])
        with pytest.raises(StaleRunError) as caught:
            await write(ledger, run, [NOTE, NOTE], artifacts=[keep("x" * 9000)], control_seq=seen)
        assert caught.value.run == "t.1"
        return await ledger.events(run)

    assert [event.kind for event in use(driver, work)] == ["run_started", "decided", kind]


async def test_other_events_do_not_make_an_author_stale(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        run = await ledger.open_run("t", [STARTED])
        async with ledger.owned(run) as lease:
            seen = await ledger.append(lease, [drafted("decided", {})])
            for kind in ("call_started", "call_finished", "step_finished", "executing", "paused", "review_requested"):
                await ledger.append(lease, [drafted(kind, {})])  # type: ignore[arg-type]
            assert await ledger.append(lease, [NOTE], control_seq=seen) == 9


async def test_before_any_decision_the_number_is_nought(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        run = await ledger.open_run("t", [STARTED])
        assert await write(ledger, run, [NOTE], control_seq=0) == 2


async def test_a_decision_about_another_run_makes_nobody_stale(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        run, other = await ledger.open_run("t", [STARTED]), await ledger.open_run("t", [STARTED])
        await write(ledger, other, [drafted("decided", {})])
        assert await write(ledger, run, [NOTE], control_seq=0) == 2


def test_of_two_who_decide_at_once_one_wins(driver: Driver) -> None:
    async def work() -> list[Any]:
        ledgers = [driver.open(), driver.open()]
        run = await ledgers[0].open_run("t", [STARTED])
        async with ledgers[0].owned(run) as lease:
            decided = [ledger.append(lease, [drafted("decided", {})], control_seq=0) for ledger in ledgers]
            outcomes = await asyncio.gather(*decided, return_exceptions=True)
        await asyncio.gather(*(ledger.close() for ledger in ledgers))
        return outcomes

    assert sorted(type(outcome).__name__ for outcome in asyncio.run(work())) == ["StaleRunError", "int"]
