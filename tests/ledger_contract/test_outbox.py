"""Deliveries of notices: added once, given to one caller at a time, tried again, and gone with their run."""

import pytest
from ledger_drivers import STARTED, Driver, opened

from planner_executor.graph.ledger.outbox import Delivery
from planner_executor.graph.record.run_key import RunKey

HOUR_S = 3600.0


def delivery(run: RunKey, address: str = "ops", since: float = 5.5) -> Delivery:
    return Delivery(run, "waits", since, "waiting", ("run_plan",), address)


async def test_a_delivery_is_added_once_and_the_position_is_kept(driver: Driver) -> None:
    async with opened(driver, count=2) as (one, other):
        assert await one.outbox.looked_until() is None
        run = await one.open_run("a", [STARTED])
        await one.outbox.add([delivery(run), delivery(run, "ada")], "7")
        await other.outbox.add([delivery(run)], "8")
        assert await one.outbox.looked_until() == "8"
        found = await other.outbox.claim(["ops", "ada"], HOUR_S)
        assert sorted(found, key=lambda one: one.address) == [delivery(run, "ada"), delivery(run)]


async def test_a_delivery_goes_to_one_caller_and_only_to_addresses_it_knows(driver: Driver) -> None:
    async with opened(driver, count=2) as (one, other):
        run = await one.open_run("a", [STARTED])
        await one.outbox.add([delivery(run)], "1")
        assert await one.outbox.claim(["ada"], HOUR_S) == [] == await one.outbox.claim([], HOUR_S)
        assert await one.outbox.claim(["ops"], HOUR_S) == [delivery(run)]
        assert await other.outbox.claim(["ops"], HOUR_S) == []


async def test_twenty_deliveries_are_given_at_a_time_unless_it_is_said_otherwise(driver: Driver) -> None:
    async with opened(driver) as (one,):
        run = await one.open_run("a", [STARTED])
        await one.outbox.add([delivery(run, since=float(place)) for place in range(24)], "1")
        assert [len(await one.outbox.claim(["ops"], HOUR_S, *most)) for most in ((), (3,), ())] == [20, 3, 1]


async def test_a_delivery_whose_process_died_is_due_again(driver: Driver) -> None:
    async with opened(driver, count=2) as (one, other):
        run = await one.open_run("a", [STARTED])
        await one.outbox.add([delivery(run)], "1")
        assert await one.outbox.claim(["ops"], 0.0)
        assert await other.outbox.claim(["ops"], HOUR_S) == [delivery(run)]


@pytest.mark.parametrize(
    ("again_s", "failure", "due", "given_up"),
    [
        (None, None, False, 0),
        (0.0, "HTTP 500", True, 0),
        (HOUR_S, "HTTP 500", False, 0),
        (None, "HTTP 500", False, 1),
    ],
)
async def test_the_outcome_of_a_try_says_whether_there_is_another(
    driver: Driver, again_s: float | None, failure: str | None, due: bool, given_up: int
) -> None:
    async with opened(driver, count=1) as (one,):
        run = await one.open_run("a", [STARTED])
        await one.outbox.add([delivery(run)], "1")
        (claimed,) = await one.outbox.claim(["ops"], HOUR_S)
        await one.outbox.settle(claimed, again_s, failure)
        again = await one.outbox.claim(["ops"], HOUR_S)
        assert [found.tries for found in again] == ([1] if due else [])
        assert await one.outbox.given_up() == given_up
        await one.outbox.add([delivery(run)], "2")
        assert await one.outbox.claim(["ops"], HOUR_S) == [], "what is known is never added again"


async def test_rows_of_the_index_are_found_by_run(driver: Driver) -> None:
    async with opened(driver, count=1) as (one,):
        runs = [await one.open_run(thread, [STARTED]) for thread in "ab"]
        found = await one.summaries([*runs, RunKey("none", 1)])
        assert {summary.id for summary in found} == {"a.1", "b.1"}
        assert await one.summaries([]) == []


async def test_a_dropped_delivery_is_due_no_more_and_counts_as_no_failure(driver: Driver) -> None:
    async with opened(driver) as (one,):
        run = await one.open_run("a", [STARTED])
        await one.outbox.add([delivery(run)], "1")
        await one.outbox.settle(delivery(run), 0.0, "HTTP 500")
        (again,) = await one.outbox.claim(["ops"], 0.0)
        await one.outbox.drop(again)
        assert await one.outbox.claim(["ops"], HOUR_S) == [] and await one.outbox.given_up() == 0
        await one.outbox.add([delivery(run)], "2")
        assert await one.outbox.claim(["ops"], HOUR_S) == [], "it stays on record, and is not added again"
