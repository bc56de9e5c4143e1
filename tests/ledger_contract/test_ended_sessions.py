"""Sessions of the desk that were signed out of: seen by every process of a database, kept until they are over."""

import asyncio

from ledger_drivers import Driver, use

from planner_executor.graph.ledger.run_store import RunStore


def test_an_ended_session_is_known_to_all_until_its_time_is_over(driver: Driver) -> None:
    async def work(one: RunStore, other: RunStore) -> list[bool]:
        found = [await other.ended_sessions.has("a")]
        await asyncio.gather(one.ended_sessions.add("a", 100.0, 1.0), other.ended_sessions.add("b", 200.0, 1.0))
        await one.ended_sessions.add("a", 100.0, 2.0)
        found += [await each.ended_sessions.has(name) for each in (one, other) for name in ("a", "b", "c")]
        await other.ended_sessions.add("c", 300.0, 150.0)
        return [*found, *[await one.ended_sessions.has(name) for name in ("a", "b", "c")]]

    assert use(driver, work, count=2) == [False, True, True, False, True, True, False, False, True, True]


def test_a_session_that_is_ended_again_is_kept_for_as_long_as_was_said_last(driver: Driver) -> None:
    async def work(ledger: RunStore) -> bool:
        await ledger.ended_sessions.add("a", 100.0, 1.0)
        await ledger.ended_sessions.add("a", 300.0, 2.0)
        await ledger.ended_sessions.add("b", 300.0, 150.0)
        return await ledger.ended_sessions.has("a")

    assert use(driver, work)
