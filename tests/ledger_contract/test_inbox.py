"""The inbox: messages for whoever works on a run, taken in order, once, by its owner alone."""

import pytest
from ledger_drivers import NOTE, STARTED, Driver, begun, kinds, with_run

from planner_executor.graph.errors import LeaseLostError, LedgerError, MessageWaitingError, StaleRunError
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted

RUN, OTHER = RunKey("t", 1), RunKey("t", 2)


async def test_messages_are_answered_in_the_transaction_that_takes_them(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        asked: list[list[str]] = []

        def answer(messages: list[str]) -> list[Draft]:
            asked.append(messages)
            return [drafted("paused", {"reason": message}) for message in messages]

        async with ledger.owned(run) as lease:
            assert await ledger.take_messages(lease, answer) == [] and asked == []
            await ledger.post(run, "pause")
            assert await ledger.take_messages(lease, answer) == ["pause"] == asked[0]
            await ledger.post(run, "cancel")
            with pytest.raises(LedgerError):
                await ledger.take_messages(lease, lambda _: [drafted("paused", {"reason": "\ud800"})])
            assert await ledger.take_messages(lease) == ["cancel"]
        assert await kinds(ledger, run) == ["run_started", "paused"]


async def test_messages_are_taken_in_the_order_in_which_they_came_and_once(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        await ledger.post(run, "pause")
        async with ledger.owned(run) as lease:
            await ledger.post(run, "cancel")
            await ledger.post(run, "pause")
            taken = [await ledger.take_messages(lease), await ledger.take_messages(lease)]
            await ledger.post(run, "cancel")
            assert [list(messages) for messages in (*taken, await ledger.take_messages(lease))] == [
                ["pause", "cancel", "pause"],
                [],
                ["cancel"],
            ]


def test_a_message_waits_for_its_own_run_whoever_opens_the_file(driver: Driver) -> None:
    async def leave(run: RunKey, ledger: RunStore) -> RunKey:
        other = await ledger.open_run("t", [STARTED])
        await ledger.post(other, "cancel")
        return other

    async def find(_: RunKey, ledger: RunStore) -> list[list[str]]:
        found = []
        for run in (RUN, OTHER):
            async with ledger.owned(run) as lease:
                found.append(list(await ledger.take_messages(lease)))
        return found

    assert with_run(driver, leave) == OTHER
    assert with_run(driver, find) == [[], ["cancel"]]


async def test_an_owner_hears_of_the_messages_of_its_own_run_alone(driver: Driver) -> None:
    async with begun(driver, count=2) as (run, ledger, poster):
        other = await ledger.open_run("t", [STARTED])
        found = []
        async with ledger.owned(run) as lease, ledger.owned(other) as elsewhere:
            for messages in ((), (run, run), (other,)):  # the first messages of a database have the numbers of its runs
                for one in messages:
                    await poster.post(one, "pause")
                found += [(await ledger.news(each, 0)).has_messages for each in (lease, elsewhere)]
                await ledger.take_messages(lease)
        assert found == [False, False, True, False, False, True]


async def test_a_message_holds_up_only_those_who_heed_it(driver: Driver) -> None:
    async with begun(driver, count=2) as (run, ledger, poster):
        other = await ledger.open_run("t", [STARTED])
        async with ledger.owned(run) as lease, ledger.owned(other) as elsewhere:
            await ledger.append(lease, [NOTE], require_empty_inbox=True)
            await poster.post(run, "pause")
            with pytest.raises(MessageWaitingError) as caught:
                await ledger.append(lease, [NOTE, NOTE], require_empty_inbox=True)
            assert caught.value.run == "t.1" and isinstance(caught.value, StaleRunError)
            await ledger.append(elsewhere, [NOTE], require_empty_inbox=True)
            await ledger.append(lease, [drafted("executing", {})])
            await ledger.take_messages(lease)
            await ledger.append(lease, [NOTE], require_empty_inbox=True)
        assert await kinds(ledger, run) == ["run_started", "paused", "executing", "paused"]


async def test_an_outdated_owner_leaves_the_messages_to_its_heir(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        async with ledger.owned(run) as old:
            pass
        async with ledger.owned(run) as new:
            await ledger.post(run, "cancel")
            with pytest.raises(LeaseLostError):
                await ledger.take_messages(old)
            assert list(await ledger.take_messages(new)) == ["cancel"]
