"""Owning a run: events are written only under the lease in force."""

import asyncio

import pytest
from ledger_drivers import NOTE, STARTED, Driver, begun, kinds

from planner_executor.graph.errors import (
    LeaseLostError,
    LedgerCorruptError,
    LedgerError,
    MissingRunError,
    StaleRunError,
)
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import keep
from planner_executor.graph.testing import drafted


async def test_a_run_that_is_not_there_is_owned_by_nobody(driver: Driver) -> None:
    async with begun(driver) as (_, ledger):
        with pytest.raises(MissingRunError):
            async with ledger.owned(RunKey("t", 2)):
                pytest.fail("it was taken")
        with pytest.raises(MissingRunError):
            await ledger.write(RunKey("t", 2), [NOTE], after=0)


@pytest.mark.parametrize("bad", [[drafted("paused", {"x": float("nan")})], [NOTE]], ids=["unstorable", "stale"])
async def test_a_write_that_is_refused_leaves_the_run_as_it_was(driver: Driver, bad: list[Draft]) -> None:
    async with begun(driver) as (run, ledger):
        with pytest.raises(LedgerError):
            await ledger.write(
                run, bad, after=1, artifacts=[keep("x" * 9000)], control_seq=9 if bad == [NOTE] else None
            )
        assert not await ledger.is_worked_on(run)
        with pytest.raises(LedgerCorruptError):
            await ledger.artifact(str(keep("x" * 9000).named["id"]))
        assert [event.seq for event in await ledger.write(run, [NOTE], after=1, control_seq=0)] == [2]
        assert await kinds(ledger, run) == ["run_started", "paused"]


async def test_a_run_is_worked_on_while_it_is_owned(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        said = [await ledger.is_worked_on(run)]
        async with ledger.owned(run):
            said.append(await ledger.is_worked_on(run))
        said.append(await ledger.is_worked_on(run))
        with pytest.raises(KeyError):
            async with ledger.owned(run):
                raise KeyError
        assert [*said, await ledger.is_worked_on(run)] == [False, True, False, False]


async def test_every_owner_gets_a_later_token_also_on_another_connection(driver: Driver) -> None:
    async with begun(driver, count=3) as (run, *ledgers):
        tokens = []
        for ledger in ledgers:
            async with ledger.owned(run) as lease:
                tokens.append(lease.token)
        assert tokens == [1, 2, 3]


async def test_runs_are_owned_side_by_side(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        other = await ledger.open_run("t", [STARTED])
        async with ledger.owned(run) as one, ledger.owned(other) as two:
            assert [await ledger.append(one, [NOTE]), await ledger.append(two, [NOTE, NOTE])] == [2, 3]


async def test_an_outdated_token_writes_nothing(driver: Driver) -> None:
    kept = keep("x" * 9000)
    assert kept.artifact is not None
    artifact = kept.artifact

    async with begun(driver, count=2) as (run, ledger, another):
        async with ledger.owned(run) as old:
            await ledger.append(old, [NOTE])
        async with another.owned(run) as new:
            for more in (
                {},
                {"artifacts": [kept]},
                {"control_seq": 0},
                {"control_seq": 9},
                {"require_empty_inbox": True},
            ):
                with pytest.raises(LeaseLostError) as caught:
                    await ledger.append(old, [NOTE, NOTE], **more)
                assert caught.value.run == "t.1"
            with pytest.raises(LeaseLostError):
                await ledger.append(old, [])
            with pytest.raises(LedgerError):
                await ledger.artifact(artifact.id)
            assert await another.append(new, [NOTE]) == 3


async def test_an_outdated_append_does_not_disturb_those_it_shares_a_commit_with(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        async with ledger.owned(run) as old:
            pass
        async with ledger.owned(run) as new:
            leases = [old if place % 3 == 0 else new for place in range(12)]
            appends = [ledger.append(lease, [NOTE]) for lease in leases]
            outcomes, written = (await asyncio.gather(*appends, return_exceptions=True), await kinds(ledger, run))

    assert [isinstance(outcome, LeaseLostError) for outcome in outcomes] == [place % 3 == 0 for place in range(12)]
    assert written == ["run_started", *["paused"] * 8]


async def test_a_token_that_was_never_given_out_writes_nothing(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        for token in (0, 1):
            with pytest.raises(LeaseLostError):
                await ledger.append(Lease(run, 1, token), [NOTE])
        async with ledger.owned(run) as lease:
            with pytest.raises(LeaseLostError):
                await ledger.append(Lease(run, lease.run_id, lease.token + 1), [NOTE])
        assert await kinds(ledger, run) == ["run_started"]


async def test_a_caller_that_is_cancelled_while_it_claims_a_run_does_not_keep_it(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):

        async def own() -> None:
            async with ledger.owned(run):
                await asyncio.Event().wait()

        said = []
        for yields in range(60):
            owner = asyncio.create_task(own())
            for _ in range(yields):
                await asyncio.sleep(0)
            owner.cancel()
            await asyncio.gather(owner, return_exceptions=True)
            said.append(await ledger.is_worked_on(run))
            holder = driver.holder(run)  # others cannot know that this process has an owner that is done
            said.append(holder is not None and holder.owner != "")
        assert not any(said)


async def test_a_run_that_is_given_back_with_events_is_free_at_once_and_the_lease_writes_nothing_more(
    driver: Driver,
) -> None:
    async with begun(driver, count=2) as (run, ledger, other):
        async with ledger.owned(run) as old:
            await ledger.write(old, [NOTE], after=1, and_release=True)
            assert not await other.is_worked_on(run)
            with pytest.raises(LeaseLostError):
                await ledger.append(old, [NOTE])
            async with other.owned(run) as new:
                assert new.token == 2
                await other.append(new, [NOTE])
        assert await kinds(ledger, run) == ["run_started", "paused", "paused"]


async def test_a_run_stays_owned_when_the_events_it_is_to_be_given_back_with_are_refused(driver: Driver) -> None:
    async with begun(driver, count=2) as (run, ledger, other):
        async with ledger.owned(run) as lease:
            with pytest.raises(StaleRunError):
                await ledger.write(lease, [NOTE], after=1, control_seq=9, and_release=True)
            assert await other.is_worked_on(run)
            assert [event.seq for event in await ledger.write(lease, [NOTE], after=1)] == [2]
        assert not await other.is_worked_on(run)


async def test_a_caller_that_is_cancelled_while_it_gives_a_run_back_does_not_keep_it(driver: Driver) -> None:
    async with begun(driver) as (_, ledger):

        async def own() -> None:
            async with ledger.begun("t", [STARTED]) as owned:
                await ledger.write(owned.lease, [NOTE], after=1, and_release=True)

        said = []
        for yields in range(60):
            owner = asyncio.create_task(own())
            for _ in range(yields):
                await asyncio.sleep(0)
            owner.cancel()
            await asyncio.gather(owner, return_exceptions=True)
            last = await ledger.last_run("t")
            said.append(last is not None and await ledger.is_worked_on(last))
        assert not any(said)
