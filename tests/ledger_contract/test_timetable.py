"""The next moments of schedules: one for each, and of several workers one replaces it."""

import asyncio

from ledger_drivers import Driver, opened

from planner_executor.graph.errors import StaleRunError
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.record.events import Draft, RunStarted
from planner_executor.graph.record.moment import Moment

NIGHTLY = Moment("nightly", "0 3 * * * UTC", 100.0, "aa")


async def test_of_several_workers_one_replaces_a_moment(driver: Driver) -> None:
    async with opened(driver, count=2) as (one, other):
        assert await one.timetable.moments() == []
        tables = (one.timetable, other.timetable)
        seen = [NIGHTLY._replace(thread=name) for name in ("aa", "bb")]
        assert sorted(await asyncio.gather(*map(lambda t, m: t.replace(None, m), tables, seen))) == [False, True]
        (found,) = await other.timetable.moments()
        taken = [found._replace(taken_at=at, waits=True, last="cc") for at in (1.0, 2.5)]
        assert sorted(await asyncio.gather(*map(lambda t, m: t.replace(found, m), tables, taken))) == [False, True]
        assert not await one.timetable.replace(found, found)
        assert await one.timetable.replace(None, Moment("hourly", "0 * * * * UTC", 7.0, "dd"))

        hourly, nightly = await other.timetable.moments()
    assert hourly.schedule == "hourly" and nightly in taken


async def test_a_schedule_starts_the_first_run_of_a_thread_and_no_other_one(driver: Driver) -> None:
    async def start(ledger: RunStore) -> bool:
        try:
            await ledger.open_run("aa", [Draft(RunStarted(goal="g", started_by="schedule:nightly"))])
        except StaleRunError:
            return False
        return True

    async with opened(driver, count=2) as ledgers:
        assert sorted(await asyncio.gather(*map(start, ledgers))) == [False, True]
        assert await ledgers[0].numbers("aa") == [1]
        await ledgers[0].open_run("aa", [Draft(RunStarted(goal="g", started_by="os:ada"))])
