"""Standing approvals of any run: counted with the intent, by one process at a time, revoked at once, chained."""

import asyncio
import time
from typing import Any

import pytest
from ledger_drivers import NOTE, STARTED, Driver, begun, kinds, with_run

from planner_executor.graph.errors import LedgerError, StaleRunError, StandingSpentError
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.standing_approval import StandingApproval, StandingCall

GIVEN: dict[str, Any] = {
    "id": "3f2a91c0b7de",
    "tool": "pay",
    "args": {"to": {"one_of": ["ann"]}},
    "at_most": 2,
    "fingerprint": "f",
    "policy": "p",
    "given_by": ("server:ada",),
    "given_at": 1000.0,
}


def approval(**fields: Any) -> StandingApproval:
    return StandingApproval(**{**GIVEN, "until": time.time() + 3600, **fields})


def use(run: RunKey, call: str) -> list[StandingCall]:
    return [StandingCall(GIVEN["id"], call, run.id)]


def test_calls_are_counted_with_their_events_and_none_beyond_the_bound(driver: Driver) -> None:
    async def work(run: RunKey, ledger: RunStore) -> tuple[list[int], list[str]]:
        await ledger.write(run, [NOTE], after=0, given=[approval()])
        await ledger.write(run, [], after=0, given=[approval(at_most=9)])  # a node that is repeated gives it again
        left = []
        async with ledger.owned(run) as lease:
            for call in ("one", "one", "two"):
                await ledger.append(lease, [NOTE], uses=use(run, call))
                left.append((await ledger.standing())[0].left)
            with pytest.raises(StandingSpentError):
                await ledger.append(lease, [NOTE], uses=use(run, "three"))
        return left, await kinds(ledger, run)

    assert with_run(driver, work) == ([1, 1, 0], ["run_started", *["paused"] * 4])


@pytest.mark.parametrize("is_leased", [True, False])
def test_a_run_is_counted_with_the_event_that_lets_it_pass_and_a_refused_one_is_not(
    driver: Driver, is_leased: bool
) -> None:
    async def work(run: RunKey, ledger: RunStore) -> int:
        await ledger.write(run, [], after=0, given=[approval(at_most=1)])

        async def write(by: Any, name: str) -> None:
            await ledger.write(by, [NOTE], after=0, uses=[StandingCall(GIVEN["id"], name, name)])

        async with ledger.owned(run) as lease:
            if is_leased:
                await write(lease, run.id)
                await write(lease, run.id)
        if not is_leased:
            await write(run, run.id)
        with pytest.raises(StandingSpentError):
            await write(run, "other.1")
        return len(await ledger.events(run))

    assert with_run(driver, work) == (3 if is_leased else 2)


@pytest.mark.parametrize("is_leased", [True, False])
def test_an_approval_is_kept_with_the_decision_that_gives_it_or_not_at_all(driver: Driver, is_leased: bool) -> None:
    async def work(run: RunKey, ledger: RunStore) -> list[str]:
        async def give(by: Any, name: str, **more: Any) -> None:
            await ledger.write(by, [NOTE], after=0, given=[approval(id=name)], **more)

        async def write(by: Any) -> None:
            with pytest.raises(StaleRunError):
                await give(by, "refused", control_seq=7)
            with pytest.raises(StandingSpentError):
                await give(by, "uses what is not there", uses=use(run, "one"))
            await give(by, "kept")

        if is_leased:
            async with ledger.owned(run) as lease:
                await write(lease)
        else:
            await write(run)
        assert await kinds(ledger, run) == ["run_started", "paused"]
        return [one.approval.id for one in await ledger.standing()]

    assert with_run(driver, work) == ["kept"]


def test_a_refused_write_counts_no_call(driver: Driver) -> None:
    async def work(run: RunKey, ledger: RunStore) -> int:
        await ledger.write(run, [], after=0, given=[approval()])
        async with ledger.owned(run) as lease:
            with pytest.raises(LedgerError):
                await ledger.append(lease, [NOTE], control_seq=7, uses=use(run, "one"))
        return (await ledger.standing())[0].left

    assert with_run(driver, work) == 2


@pytest.mark.parametrize("case", ["revoked", "past its time", "not there"])
def test_an_approval_that_holds_no_longer_lets_nothing_through(driver: Driver, case: str) -> None:
    async def work(run: RunKey, ledger: RunStore) -> list[str]:
        other = driver.open()
        if case != "not there":
            until = time.time() - 1 if case == "past its time" else None
            await ledger.write(run, [], after=0, given=[approval(until=until)])
        if case == "revoked":
            assert await other.revoke_standing(GIVEN["id"], "server:bob")
            assert not await ledger.revoke_standing(GIVEN["id"], "server:eve")
            assert (await ledger.standing())[0].revoked_by == "server:bob"
        async with ledger.owned(run) as lease:
            with pytest.raises(StandingSpentError):
                await ledger.append(lease, [NOTE], uses=use(run, "one"))
        await other.close()
        return await kinds(ledger, run)

    assert with_run(driver, work) == ["run_started"]


def test_of_two_processes_one_has_the_last_call(driver: Driver) -> None:
    async def work(run: RunKey, ledger: RunStore) -> int:
        await ledger.write(run, [], after=0, given=[approval(at_most=1)])
        other = driver.open()
        second = await other.open_run("u", [STARTED])

        async def begin(store: RunStore, key: RunKey) -> bool:
            async with store.owned(key) as lease:
                try:
                    await store.append(lease, [NOTE], uses=use(key, key.id))
                except StandingSpentError:
                    return False
                return True

        made = await asyncio.gather(begin(ledger, run), begin(other, second))
        await other.close()
        return sum(made)

    assert with_run(driver, work) == 1


async def test_a_look_for_one_tool_leaves_out_others_and_those_that_are_over_unless_they_are_named(
    driver: Driver,
) -> None:
    async with begun(driver) as (run, ledger):
        kept = {"holds": {}, "other": {"tool": "mail"}, "over": {"until": 1.0}, "named": {"until": 1.0}}
        await ledger.write(run, [], after=0, given=[approval(id=name, **fields) for name, fields in kept.items()])
        looks = [await ledger.standing(), await ledger.standing("pay"), await ledger.standing("pay", {"named"})]
        assert [{use.approval.id for use in found} for found in looks] == [
            {"holds", "other", "over", "named"},
            {"holds"},
            {"holds", "named"},
        ]
