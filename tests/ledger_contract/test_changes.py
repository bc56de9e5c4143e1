"""What has changed since, and which runs are unfinished and whose: what a worker polls."""

import pytest
from ledger_drivers import NEVER_S, NOTE, STARTED, Driver, begun, departed, opened, write

from planner_executor.graph.errors import LeaseLostError
from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.ledger.run_index import Unfinished
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.testing import drafted

ASKED = drafted("review_requested", {"asked": ["run_plan"], "error": None, "request": 1})
ENDED = drafted("run_ended", {"status": "succeeded", "reason": "1 of 1 steps succeeded", "value": 1})


async def settled(ledger: RunStore, position: str) -> str:
    """Return the first position from which no run is named again: others' transactions on the server have to end."""
    while (found := await ledger.changes(position)).runs:
        position = found.position
    return position


async def test_the_runs_written_to_since_a_position_are_named(driver: Driver) -> None:
    async with opened(driver, count=2) as (one, other):
        begin = (await one.changes()).position
        runs = [await one.open_run(thread, [STARTED]) for thread in "ab"]
        first = await other.changes(begin)
        assert set(first.runs) == set(runs) and first.is_complete
        position = await settled(one, first.position)
        await write(other, runs[1], [NOTE])
        found = await one.changes(position)
        assert found.runs == (runs[1],) and found.is_complete
        await settled(one, found.position)
        assert (await one.changes()).runs == ()


async def test_what_was_refused_is_no_change(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        async with ledger.owned(run) as lease:
            pass
        before = await settled(ledger, (await ledger.changes()).position)
        with pytest.raises(LeaseLostError):
            await ledger.append(lease, [NOTE])
        assert (await ledger.changes(before)).runs == ()


async def test_runs_that_can_go_on_are_listed_with_their_owner(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        a, b, c, d, e = [await ledger.open_run(thread, [STARTED]) for thread in "abcde"]
        await write(ledger, b, [ASKED])
        await write(ledger, c, [ENDED])
        await write(ledger, d, [NOTE])
        async with ledger.owned(e):
            found = await ledger.unfinished()
            assert [one.run for one in found] == [a, d, e]
            assert [bool(one.holder and one.holder.owner) for one in found] == [False, False, True]
            assert [one.seq for one in found] == [1, 2, 1] and not any(one.is_dead for one in found)
            driver.own(e, departed())
            assert [one.run for one in await ledger.unfinished() if one.is_dead] == [e]


@pytest.mark.parametrize("standing", ["never owned", "released", "dead"])
async def test_of_two_that_set_a_run_aside_one_succeeds(driver: Driver, standing: str) -> None:
    async with begun(driver, count=2) as (run, one, other):
        if standing != "never owned":
            async with one.owned(run) as lease:
                if standing == "dead":
                    driver.own(run, departed())
                    assert await _set_aside_by_one(one, other)
                    with pytest.raises(LeaseLostError):
                        await one.append(lease, [NOTE])
                    return
        assert await _set_aside_by_one(one, other)
        async with other.owned(run) as lease:
            await other.append(lease, [NOTE])


async def _set_aside_by_one(one: RunStore, other: RunStore) -> bool:
    (seen,), (as_well,) = await one.unfinished(), await other.unfinished()
    return (await one.set_aside(seen), await other.set_aside(as_well)) == (True, False)


async def test_a_run_whose_owner_has_shown_itself_is_not_set_aside(driver: Driver) -> None:
    async with begun(driver, pace=Pace(beat_s=NEVER_S)) as (run, ledger):
        (seen,) = await ledger.unfinished()
        async with ledger.owned(run) as lease:
            assert not await ledger.set_aside(seen)
            assert await ledger.append(lease, [NOTE]) == 2
        assert not await ledger.set_aside(Unfinished(run, 1, None, is_dead=False))
