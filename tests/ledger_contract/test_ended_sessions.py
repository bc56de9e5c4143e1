"""Sessions of the desk that were signed out of: seen by every process of a database, kept until they are over."""

import asyncio

from ledger_drivers import Driver, opened


async def test_an_ended_session_is_known_to_all_until_its_time_is_over(driver: Driver) -> None:
    async with opened(driver, count=2) as (one, other):
        found = [await other.ended_sessions.has("a")]
        await asyncio.gather(one.ended_sessions.add("a", 100.0, 1.0), other.ended_sessions.add("b", 200.0, 1.0))
        await one.ended_sessions.add("a", 100.0, 2.0)
        found += [await each.ended_sessions.has(name) for each in (one, other) for name in ("a", "b", "c")]
        await other.ended_sessions.add("c", 300.0, 150.0)
        assert [*found, *[await one.ended_sessions.has(name) for name in ("a", "b", "c")]] == [
            False,
            True,
            True,
            False,
            True,
            True,
            False,
            False,
            True,
            True,
        ]


async def test_a_session_that_is_ended_again_is_kept_for_as_long_as_was_said_last(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        await ledger.ended_sessions.add("a", 100.0, 1.0)
        await ledger.ended_sessions.add("a", 300.0, 2.0)
        await ledger.ended_sessions.add("b", 300.0, 150.0)
        assert await ledger.ended_sessions.has("a")
