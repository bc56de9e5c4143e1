"""Takeovers: of owners that are gone, that show no sign of life, and of none that lives."""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack, nullcontext
from pathlib import Path

import pytest
from ledger_drivers import (
    NEVER_S,
    NOTE,
    STARTED,
    Driver,
    SqliteDriver,
    altered,
    begun,
    departed,
    kinds,
)

from planner_executor.graph.errors import LeaseLostError, RunOwnedError
from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.ledger.owner import new_owner, retire
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.record.events import OwnerReplaced
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted

INTENT = drafted("call_started", {"tool": "pay", "repeatable": False}, "a")
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="start times are read from /proc")


def beats(driver: Driver, run: RunKey) -> int:
    holder = driver.holder(run)
    assert holder is not None
    return holder.beat


async def replaced_in(ledger: RunStore, run: RunKey) -> list[bool]:
    """Return of each owner that was replaced whether its process was known to be dead."""
    found = [event.data for event in await ledger.events(run)]
    return [data.is_dead for data in found if isinstance(data, OwnerReplaced)]


def block_until(true: Callable[[], bool]) -> None:
    """Keep this thread, and with it the event loop, from doing anything else."""
    while not true():
        pass


@needs_proc
async def test_an_owner_that_is_gone_is_replaced_at_once(driver: Driver) -> None:
    async with begun(driver, count=2, pace=Pace(NEVER_S, NEVER_S, NEVER_S)) as (run, ledger, heir):
        async with AsyncExitStack() as owner:
            old = await owner.enter_async_context(ledger.owned(run))
            driver.own(run, departed())
            assert not await heir.is_worked_on(run)
            assert (await heir.health()).dead == ("t.1",)
            async with heir.owned(run) as new:
                with pytest.raises(LeaseLostError):
                    await ledger.append(old, [NOTE])
                await owner.aclose()
                assert await heir.is_worked_on(run) and (await heir.health()).dead == ()
                await heir.append(new, [NOTE])
        started, replaced, note = [event.data for event in await heir.events(run)]
    assert (started.kind, note.kind) == ("run_started", "paused")
    assert replaced == OwnerReplaced(process=f"process {os.getpid()} on {socket.gethostname()}", is_dead=True)


@needs_proc
async def test_a_lease_is_proved_until_another_owner_has_taken_the_run_over(driver: Driver) -> None:
    async with begun(driver, count=2, pace=Pace(NEVER_S, NEVER_S, NEVER_S)) as (run, ledger, heir):
        async with AsyncExitStack() as owner:
            old = await owner.enter_async_context(ledger.owned(run))
            await ledger.prove(old)
            driver.own(run, departed())
            async with heir.owned(run) as new:
                with pytest.raises(LeaseLostError):
                    await ledger.prove(old)
                await heir.prove(new)
            with pytest.raises(LeaseLostError):
                await heir.prove(new)
        assert await kinds(heir, run) == [
            "run_started",
            "owner_replaced",
        ]


@pytest.mark.parametrize("lease_s", [NEVER_S, 0.0])
async def test_an_intent_proves_the_lease_for_a_while_where_no_other_clock_decides(
    driver: Driver, lease_s: float
) -> None:
    counts = isinstance(driver, SqliteDriver) and lease_s == NEVER_S
    async with begun(driver, pace=Pace(NEVER_S, lease_s, NEVER_S)) as (run, ledger), ledger.owned(run) as lease:
        before = beats(driver, run)
        await ledger.append(lease, [INTENT])
        driver.own(run, "")  # released behind its back: who looks sees it
        with nullcontext() if counts else pytest.raises(LeaseLostError):
            await ledger.prove(lease)
        assert not counts or beats(driver, run) > before


async def test_a_look_at_a_lease_shows_that_its_owner_is_alive(driver: Driver) -> None:
    async with begun(driver, pace=Pace(NEVER_S, NEVER_S, NEVER_S)) as (run, ledger), ledger.owned(run) as lease:
        before = beats(driver, run)
        await ledger.prove(lease)
        assert beats(driver, run) == before + 1


@needs_proc
async def test_of_many_who_challenge_an_owner_that_is_gone_one_wins(driver: Driver) -> None:
    async with begun(driver, count=3, pace=Pace(0.01, NEVER_S, 0.005)) as (run, *ledgers):
        async with ledgers[0].owned(run):
            pass
        driver.own(run, departed())
        owners = [ledger.owned(run) for ledger in ledgers]
        outcomes = await asyncio.gather(*(owner.__aenter__() for owner in owners), return_exceptions=True)
        for owner, outcome in zip(owners, outcomes, strict=True):
            if isinstance(outcome, Lease):
                assert outcome.token == 2
                await owner.__aexit__(None, None, None)
        assert sorted(type(outcome).__name__ for outcome in outcomes) == [
            "Lease",
            "RunOwnedError",
            "RunOwnedError",
        ]


async def test_an_owner_whose_heart_beats_is_not_taken_over(driver: Driver) -> None:
    async with (
        begun(driver, count=2, pace=Pace(0.01, NEVER_S, 0.005)) as (run, ledger, another),
        ledger.owned(run) as lease,
    ):
        for challenger in (ledger, another):
            with pytest.raises(RunOwnedError) as caught:
                async with challenger.owned(run):
                    pass
            assert caught.value.run == "t.1"
        assert await ledger.append(lease, [NOTE]) == 2


@pytest.mark.parametrize("known", [{}, {"host": "elsewhere"}, {"start": ""}], ids=["here", "elsewhere", "unsure"])
async def test_an_owner_whose_heart_stands_still_is_taken_over_by_one_of_its_challengers(
    driver: Driver, known: dict[str, str]
) -> None:
    async with begun(driver, count=3, pace=Pace(NEVER_S, 0.1, 0.005)) as (run, ledger, *others):
        async with ledger.owned(run) as old:
            driver.own(run, altered(**known))
            challengers = [other.owned(run) for other in others]
            outcomes = await asyncio.gather(*(one.__aenter__() for one in challengers), return_exceptions=True)
            # Whoever looks late watches the first challenger, whose heart stands still as well.
            *lost, last = sorted((one for one in outcomes if isinstance(one, Lease)), key=lambda one: one.token)
            for outdated in (old, *lost):
                with pytest.raises(LeaseLostError):
                    await ledger.append(outdated, [NOTE])
            assert await ledger.append(last, [NOTE]) == 3 + len(lost)
            for one, outcome in zip(challengers, outcomes, strict=True):
                if isinstance(outcome, Lease):
                    await one.__aexit__(None, None, None)
        assert await replaced_in(ledger, run) == [False] * (1 + len(lost))
        assert {type(one) for one in outcomes} <= {Lease, RunOwnedError}


@needs_proc
async def test_an_owner_whose_process_lives_is_not_said_to_be_dead_although_it_has_finished(driver: Driver) -> None:
    async with (
        begun(driver, count=2, pace=Pace(NEVER_S, NEVER_S, NEVER_S)) as (run, ledger, heir),
        ledger.owned(run),
    ):
        finished = new_owner()
        retire(finished)
        driver.own(run, finished)
        async with heir.owned(run):
            assert await replaced_in(heir, run) == [False]


@pytest.mark.parametrize("is_left", [True, False])
async def test_a_run_that_is_set_aside_says_whose_it_was(driver: Driver, is_left: bool) -> None:
    async with begun(driver, pace=Pace(NEVER_S, NEVER_S, NEVER_S)) as (run, ledger), ledger.owned(run):
        driver.own(run, departed() if is_left else "")
        (found,) = await ledger.unfinished()
        assert await ledger.set_aside(found) and not await ledger.set_aside(found)
        async with ledger.owned(run):
            assert await replaced_in(ledger, run) == [True] * is_left


async def test_an_owner_is_replaced_for_a_single_write_as_well(driver: Driver) -> None:
    async with begun(driver, count=2, pace=Pace(NEVER_S, 0.0, 0.005)) as (run, ledger, heir), ledger.owned(run):
        driver.own(run, altered(host="elsewhere"))
        await heir.write(run, [NOTE], after=1)
        assert await replaced_in(heir, run) == [False]


async def test_a_challenger_gets_a_run_that_is_let_go_while_it_looks(driver: Driver) -> None:
    async with begun(driver, count=2, pace=Pace(NEVER_S, NEVER_S, 0.005)) as (run, ledger, challenger):

        async def challenge() -> int:
            async with challenger.owned(run) as lease:
                return await challenger.append(lease, [NOTE])

        async with ledger.owned(run):
            waiting = asyncio.create_task(challenge())
            await asyncio.sleep(0)
            assert await challenger.is_worked_on(run)  # answered after the claim that finds the run owned
            driver.own(run, "")
            assert await waiting == 2


async def test_a_challenger_who_gives_up_leaves_the_owner_alone(driver: Driver) -> None:
    async with (
        begun(driver, count=2, pace=Pace(NEVER_S, NEVER_S, 0.005)) as (run, ledger, challenger),
        ledger.owned(run) as lease,
    ):
        waiting = asyncio.create_task(challenger.owned(run).__aenter__())
        await asyncio.sleep(0)
        assert await challenger.is_worked_on(run)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await challenger.is_worked_on(run)
        assert await ledger.append(lease, [NOTE]) == 2


async def test_a_challenger_is_told_after_a_heartbeat_that_the_owner_lives(driver: Driver) -> None:
    async with (
        begun(driver, count=2, pace=Pace(beat_s=0.05, lease_s=NEVER_S)) as (run, ledger, challenger),
        ledger.owned(run),
    ):
        with pytest.raises(RunOwnedError):
            async with challenger.owned(run):
                pass


async def test_the_heart_beats_while_the_event_loop_is_blocked(driver: Driver) -> None:
    async with begun(driver, pace=Pace(0.01, NEVER_S, 0.005)) as (run, ledger), ledger.owned(run) as lease:
        block_until(lambda: beats(driver, run) >= 3)
        assert await ledger.append(lease, [NOTE]) == 2


async def test_the_heart_beats_for_the_runs_that_are_owned_and_no_others(driver: Driver) -> None:
    async with begun(driver, pace=Pace(0.01, NEVER_S, 0.005)) as (run, ledger):
        others = [await ledger.open_run("t", [STARTED]) for _ in range(2)]
        async with ledger.owned(others[0]), ledger.owned(others[1]):
            async with ledger.owned(run):
                block_until(lambda: min(beats(driver, one) for one in (run, *others)) >= 1)
            left_at = {one: beats(driver, one) for one in (run, *others)}
            block_until(lambda: all(beats(driver, other) >= left_at[other] + 3 for other in others))
            assert beats(driver, run) == left_at[run]
