"""A run is taken and read, and perhaps opened with events, in one transaction."""

import pytest
from ledger_drivers import NOTE, STARTED, Driver, begun, kinds

from planner_executor.graph.errors import LeaseLostError, LedgerCorruptError, LedgerError
from planner_executor.graph.ledger.protocol import News
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted


async def test_a_run_that_cannot_be_begun_is_not_there(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        with pytest.raises(LedgerError):
            async with ledger.begun("t", [STARTED, drafted("paused", {"x": "\ud800"})]):
                pytest.fail("it was begun")
        assert await ledger.last_run("t") == run
        assert await ledger.runs() == [RunKey("t", 1)]


async def test_an_opening_that_cannot_be_written_takes_no_run(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        with pytest.raises(LedgerError):
            async with ledger.owned_and_read(run, 1, [drafted("paused", {"x": "\ud800"})]):
                pytest.fail("it was opened")
        assert not await ledger.is_worked_on(run) and await kinds(ledger, run) == ["run_started"]


async def test_a_run_that_is_begun_is_owned_from_its_first_event_on(driver: Driver) -> None:
    async with begun(driver, count=2) as (run, ledger, other):
        async with ledger.begun("t", [STARTED]) as owned:
            assert owned.lease.run == RunKey("t", 2)
            assert [(event.kind, event.payload["n"]) for event in owned.news.events] == [("run_started", 2)]
            assert not owned.news.has_messages
            assert [await other.is_worked_on(owned.lease.run), await other.is_worked_on(run)] == [True, False]
            assert await ledger.append(owned.lease, [NOTE]) == 2
        assert not await other.is_worked_on(owned.lease.run)


async def test_who_takes_a_run_reads_what_came_since_in_the_same_transaction(driver: Driver) -> None:
    async with begun(driver, count=2) as (run, ledger, other):
        await other.write(run, [NOTE, NOTE], after=1)
        await other.post(run, "pause")
        async with ledger.owned_and_read(run, after=2) as owned:
            assert [event.seq for event in owned.news.events] == [3]
            assert owned.news.has_messages
            assert await ledger.news(owned.lease, 3) == News([], has_messages=True)
            await ledger.take_messages(owned.lease)
            assert await ledger.news(owned.lease, 2) == News(owned.news.events, has_messages=False)
        async with other.owned(run):
            with pytest.raises(LeaseLostError):
                await ledger.news(owned.lease, 3)


async def test_a_run_is_opened_with_events_only_if_it_is_as_it_was_read(driver: Driver) -> None:
    async with begun(driver, count=2) as (run, ledger, other):
        async with ledger.owned_and_read(run, 1, [NOTE]) as owned:
            assert owned.opened and [event.kind for event in owned.news.events] == ["paused"]
        async with ledger.owned_and_read(run, 1, [NOTE]) as owned:
            assert not owned.opened and [event.seq for event in owned.news.events] == [2]
        await other.post(run, "pause")
        async with ledger.owned_and_read(run, 2, [NOTE]) as owned:
            assert not owned.opened and owned.news == News([], has_messages=True)
        assert await kinds(other, run) == ["run_started", "paused"]


async def test_a_run_that_lost_its_last_events_is_not_opened(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        await ledger.write(run, [NOTE], after=1)
        driver.cut(run, 1)
        for after in (1, 2):
            with pytest.raises(LedgerCorruptError):
                async with ledger.owned_and_read(run, after, [NOTE]):
                    pytest.fail("it was opened")


@pytest.mark.parametrize("take", ["owned_and_read", "latest", "write"])
async def test_what_is_read_with_something_else_is_checked_as_well(driver: Driver, take: str) -> None:
    async with begun(driver) as (run, ledger):
        driver.change(run, 1, "payload", "{}")
        with pytest.raises(LedgerCorruptError):
            if take == "owned_and_read":
                async with ledger.owned_and_read(run):
                    pytest.fail("it was taken")
            elif take == "latest":
                await ledger.latest("t")
            else:
                await ledger.write(run, [NOTE], after=0)
        assert not await ledger.is_worked_on(run)
