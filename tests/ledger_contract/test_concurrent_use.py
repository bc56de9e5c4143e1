"""Many tasks, event loops and ledgers that use one database at once."""

import asyncio
from typing import Any

from ledger_drivers import NOTE, STARTED, Driver, opened, write

from planner_executor.graph.errors import LedgerError
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted


def note(number: int, **payload: Any) -> Draft:
    return drafted("paused", {"number": number, **payload})


def test_each_event_loop_may_use_a_ledger_and_may_be_closed_under_it(driver: Driver) -> None:
    ledger = driver.open()
    run = asyncio.run(ledger.open_run("t", [STARTED]))

    tasks: list[asyncio.Task[int]] = []

    async def begin() -> None:
        owner = ledger.owned(run)
        lease = await owner.__aenter__()
        tasks.extend(asyncio.create_task(ledger.append(lease, [NOTE])) for _ in range(20))
        await asyncio.sleep(0)

    asyncio.run(begin())

    async def look() -> list[Event]:
        try:
            return await ledger.events(run)
        finally:
            await ledger.close()

    found = asyncio.run(look())
    assert [event.seq for event in found] == list(range(1, len(found) + 1))


async def test_a_closed_ledger_opens_again_on_use(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        run = await ledger.open_run("t", [STARTED])
        await ledger.close()
        await ledger.close()
        assert await write(ledger, run, [NOTE]) == 2


async def test_a_ledger_used_while_it_is_being_closed_loses_nothing(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        run = await ledger.open_run("t", [STARTED])
        async with ledger.owned(run) as lease:
            for _ in range(20):
                await asyncio.gather(ledger.append(lease, [NOTE]), ledger.close(), ledger.append(lease, [NOTE]))
        assert len(await ledger.events(run)) == 41


async def test_appends_of_many_tasks_get_a_number_each(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        run = await ledger.open_run("t", [STARTED])
        async with ledger.owned(run) as lease:
            appends = [ledger.append(lease, [note(place), note(place)]) for place in range(100)]
            numbers = await asyncio.gather(*appends)
        numbers, found = (numbers, await ledger.events(run))

    assert sorted(numbers) == list(range(3, 202, 2))
    assert [event.seq for event in found] == list(range(1, 202))
    assert all(found[last - 1].payload == found[last - 2].payload for last in numbers)


def test_connections_of_several_ledgers_share_one_file(driver: Driver) -> None:
    async def fill(ledger: RunStore, run: RunKey) -> None:
        async with ledger.owned(run) as lease:
            await asyncio.gather(*(ledger.append(lease, [NOTE]) for _ in range(10)))

    async def work() -> list[list[Event]]:
        ledgers = [driver.open() for _ in range(4)]
        runs = [await ledgers[0].open_run("t", [STARTED]) for _ in ledgers]
        await asyncio.gather(*(fill(ledger, run) for ledger, run in zip(ledgers, runs, strict=True)))
        found = [await ledgers[-1].events(run) for run in runs]
        await asyncio.gather(*(ledger.close() for ledger in ledgers))
        return found

    assert [[event.seq for event in found] for found in asyncio.run(work())] == [list(range(1, 12))] * 4


def test_a_lease_holds_on_every_connection_to_the_file(driver: Driver) -> None:
    async def work() -> list[Event]:
        ledgers = [driver.open() for _ in range(4)]
        run = await ledgers[0].open_run("t", [STARTED])
        async with ledgers[0].owned(run) as lease:
            await asyncio.gather(*(ledger.append(lease, [NOTE]) for ledger in ledgers for _ in range(10)))
        found = await ledgers[-1].events(run)
        await asyncio.gather(*(ledger.close() for ledger in ledgers))
        return found

    assert [event.seq for event in asyncio.run(work())] == list(range(1, 42))


def test_two_ledgers_start_runs_of_one_thread_side_by_side(driver: Driver) -> None:
    async def work() -> list[RunKey]:
        ledgers = [driver.open() for _ in range(3)]
        keys = await asyncio.gather(*(ledger.open_run("t", [STARTED]) for ledger in ledgers for _ in range(5)))
        await asyncio.gather(*(ledger.close() for ledger in ledgers))
        return keys

    assert sorted(key.n for key in asyncio.run(work())) == list(range(1, 16))


async def test_one_bad_append_does_not_disturb_its_neighbours(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        run = await ledger.open_run("t", [STARTED])
        drafts = [note(number, text="\ud800" if number % 3 == 0 else "fine") for number in range(30)]
        async with ledger.owned(run) as lease:
            appends = [ledger.append(lease, [draft]) for draft in drafts]
            outcomes = await asyncio.gather(*appends, return_exceptions=True)
        outcomes, found = (outcomes, await ledger.events(run))

    assert [isinstance(outcome, LedgerError) for outcome in outcomes] == [number % 3 == 0 for number in range(30)]
    assert [event.seq for event in found] == list(range(1, 22))
    assert {event.payload["number"] for event in found[1:]} == {number for number in range(30) if number % 3}


async def test_a_caller_that_is_cancelled_leaves_the_ledger_usable(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        run = await ledger.open_run("t", [STARTED])
        async with ledger.owned(run) as lease:
            tasks = [asyncio.create_task(ledger.append(lease, [NOTE])) for _ in range(20)]
            await asyncio.sleep(0)
            for task in tasks[::2]:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        found = await ledger.events(run)

    assert [event.seq for event in found] == list(range(1, len(found) + 1))
    assert len(found) >= 11
