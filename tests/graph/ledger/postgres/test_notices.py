"""A worker is told of what others write, and what it is told costs the database little."""

import asyncio
import time
from collections.abc import Iterator

import pytest
from postgres_server import connected, execute, new_database

from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.testing import drafted

pytestmark = pytest.mark.e2e

STARTED = drafted("run_started", {"goal": "g", "constraints": []})
NOTE = drafted("paused", {"reason": "asked to pause"})
LISTENING = "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN%%' AND datname = current_database()"


@pytest.fixture
def address() -> Iterator[str]:
    """A database of its own: a channel is one for all schemas."""
    with new_database() as made:
        yield made


async def test_who_waits_is_woken_by_a_notice_and_finds_the_change(address: str) -> None:
    ledger = open_ledger(address)
    since = (await ledger.changes()).position
    waiting = asyncio.create_task(ledger.wait_for_news(3_600))
    while not execute(address, LISTENING):
        await asyncio.sleep(0)
    run = await ledger.open_run("t", [STARTED])
    async with asyncio.timeout(30):
        await waiting
    assert (await ledger.changes(since)).runs == (run,)
    await ledger.close()


async def test_writes_cause_at_most_ten_notices_a_second(address: str) -> None:
    began_s = time.monotonic()

    with connected(address) as other:
        other.execute("LISTEN planner_executor")
        ledger = open_ledger(address)
        async with ledger.begun("t", [STARTED]) as owned:
            for _ in range(200):
                await ledger.append(owned.lease, [NOTE])
        await ledger.close()
        other.execute("NOTIFY planner_executor, 'last'")
        told = 0
        for notice in other.notifies():
            if notice.payload == "last":
                break
            told += 1
    assert 1 <= told <= 10 * (time.monotonic() - began_s) + 1


async def test_who_is_told_nothing_looks_when_the_time_is_over(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_EXECUTOR_DB_DIRECT", "postgresql://nobody@/nowhere?host=/nonexistent")

    ledger = open_ledger(address)
    since = (await ledger.changes()).position
    await ledger.wait_for_news(0.01)
    run = await ledger.open_run("t", [STARTED])
    assert (await ledger.changes(since)).runs == (run,)
    await ledger.close()
