"""Caps across runs: counted with the intent, by one process at a time, given back once, forgotten with their day."""

import asyncio
import time

import pytest
from ledger_drivers import NOTE, STARTED, Driver, begun, kinds

from planner_executor.graph.errors import CapReachedError, LedgerError
from planner_executor.graph.ledger.caps import KEPT_S
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.record.caps import CapCorrection, CapEntry, CapUse, DayCap, RateCap
from planner_executor.graph.record.run_key import RunKey

SENDS = DayCap("calls.send", 2)
OF_ADA = DayCap("calls.send", 1, "person:ada")
NOTHING_HAPPENED = {"calls.send": -1.0, "tool_calls": -1.0}


def sent(call: str, *caps: DayCap) -> CapUse:
    return CapUse(call, tuple((cap, 1.0) for cap in caps or (SENDS,)))


async def made(ledger: RunStore, lease: Lease, *entries: CapEntry) -> str | None:
    """Return the name of the cap that refused the entries, None if they were written."""
    try:
        await ledger.append(lease, [NOTE], caps=entries)
    except CapReachedError as reached:
        return reached.words
    return None


async def test_calls_are_counted_with_their_events_over_all_runs_and_none_beyond_the_cap(driver: Driver) -> None:
    reached = "at most 2 calls of send a day"
    async with begun(driver) as (run, ledger):
        other, found = driver.open(), []
        second = await other.open_run("u", [STARTED])
        async with ledger.owned(run) as lease, other.owned(second) as elsewhere:
            found = [await made(ledger, lease, sent("one")), await made(other, elsewhere, sent("two"))]
            found += [await made(ledger, lease, sent("three")), await made(other, elsewhere, sent("four"))]
        await other.close()
        assert (found, await kinds(ledger, run)) == ([None, None, reached, reached], ["run_started", "paused"])


async def test_a_cap_of_each_user_and_one_of_all_both_hold_and_a_refusal_counts_nothing(driver: Driver) -> None:
    of_a_user = "at most 1 call of send a day for each user"
    async with begun(driver) as (run, ledger):
        bob = DayCap("calls.send", 1, "person:bob")
        async with ledger.owned(run) as lease:
            with pytest.raises(LedgerError):
                await ledger.append(lease, [NOTE], control_seq=7, caps=[sent("refused", SENDS, OF_ADA)])
            uses = [("a1", OF_ADA), ("a2", OF_ADA), ("b1", bob), ("c1", DayCap("calls.send", 1, "person:cy"))]
            assert [await made(ledger, lease, sent(call, SENDS, cap)) for call, cap in uses] == [
                None,
                of_a_user,
                None,
                str(SENDS),
            ]


async def test_what_did_not_happen_is_given_back_once_and_tokens_are_corrected(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        back, tokens = CapCorrection("one", NOTHING_HAPPENED), DayCap("tokens", 100)
        async with ledger.owned(run) as lease:
            found = [await made(ledger, lease, sent("one", OF_ADA)), await made(ledger, lease, back)]
            await ledger.write(lease, [], after=0, caps=[back, CapCorrection("never counted", NOTHING_HAPPENED)])
            found += [await made(ledger, lease, sent("two", OF_ADA)), await made(ledger, lease, sent("three", OF_ADA))]
            found += [await made(ledger, lease, CapUse("ask", ((tokens, 90.0),)))]
            found += [await made(ledger, lease, CapCorrection("ask", {"tokens": -50.0}))]
            found += [await made(ledger, lease, CapUse("more", ((tokens, amount),))) for amount in (61.0, 60.0)]
        assert found == [None, None, None, str(OF_ADA), None, None, "at most 100 tokens a day", None]


async def test_of_two_processes_one_has_the_last_call_and_one_the_turn(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        other = driver.open()
        second = await other.open_run("u", [STARTED])

        async def begin(store: RunStore, key: RunKey, use: CapUse) -> bool:
            async with store.owned(key) as lease:
                return await made(store, lease, use) is None

        uses = [sent(f"{call}", OF_ADA) for call in range(2)]
        uses += [CapUse(f"t{call}", turns=(RateCap("fetch", 3600.0),)) for call in range(2)]
        found = []
        for one, two in (uses[:2], uses[2:]):
            found.append(sum(await asyncio.gather(begin(ledger, run, one), begin(other, second, two))))
        await other.close()
        assert found == [1, 1]


async def test_a_rate_says_how_long_until_the_next_turn_and_names_share_none(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        rate, other = RateCap("fetch", 3600.0), RateCap("send", 3600.0)
        async with ledger.owned(run) as lease:
            await ledger.append(lease, [NOTE], caps=[CapUse("one", turns=(rate,))])
            with pytest.raises(CapReachedError) as refused:
                await ledger.append(lease, [NOTE], caps=[CapUse("two", turns=(rate,))])
            wait_s, of_another = (refused.value.wait_s, await made(ledger, lease, CapUse("three", turns=(other,))))
    assert 3500.0 < wait_s <= 3600.0
    assert of_another is None


async def test_counts_outlast_the_removal_of_their_runs(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        async with ledger.owned(run) as lease:
            await made(ledger, lease, sent("one", OF_ADA))
        await ledger.remove([[await ledger.transcript(run)]], "ada")
        async with ledger.owned(await ledger.open_run("u", [STARTED])) as lease:
            assert await made(ledger, lease, sent("two", OF_ADA)) == str(OF_ADA)


async def test_days_that_are_long_over_are_forgotten(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The day's end is moved instead of the clock: one of the drivers counts by its server's."""

    async with begun(driver) as (run, ledger):
        over = time.time() - KEPT_S - 1
        async with ledger.owned(run) as lease:
            with monkeypatch.context() as earlier:
                earlier.setattr(DayCap, "until", lambda _cap, _now: over)
                await made(ledger, lease, sent("one", OF_ADA))
            found = [await made(ledger, lease, sent("two", OF_ADA))]
            await made(ledger, lease, CapCorrection("one", NOTHING_HAPPENED))  # gives nothing back of today
            assert [*found, await made(ledger, lease, sent("three", OF_ADA))] == [None, str(OF_ADA)]


async def test_the_counts_of_yesterday_stay_after_midnight_until_its_calls_have_ended(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The day's end is moved instead of the clock: one of the drivers counts by its server's."""

    async with begun(driver) as (run, ledger):
        midnight = time.time() - 60.0

        async def yesterday(call: str) -> str | None:
            with monkeypatch.context() as earlier:
                earlier.setattr(DayCap, "until", lambda _cap, _now: midnight)
                return await made(ledger, lease, sent(call, OF_ADA))

        async with ledger.owned(run) as lease:
            found = [await yesterday("one"), await made(ledger, lease, sent("two", OF_ADA)), await yesterday("three")]
            await made(ledger, lease, CapCorrection("one", NOTHING_HAPPENED))  # its outcome comes after midnight
            assert [*found, await made(ledger, lease, sent("four", OF_ADA)), await yesterday("five")] == [
                None,
                None,
                str(OF_ADA),
                str(OF_ADA),
                None,
            ]
