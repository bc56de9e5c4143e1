"""What is in memory is used on the thread of whoever asks."""

import asyncio
import sqlite3
import threading
from typing import Any

import pytest
from clocked_loop import ClockedLoop

from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.ledger.sqlite import callers_thread
from planner_executor.graph.ledger.sqlite.callers_thread import CallersThread
from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.testing import drafted

STARTED = drafted("run_started", {"goal": "g", "constraints": []})


@pytest.mark.parametrize("anyio_backend", [("asyncio", {"loop_factory": ClockedLoop})])
async def test_memory_is_used_on_the_thread_of_whoever_asks_and_no_loop_is_kept_from_others() -> None:
    ledger, turns, threads = MemoryLedger(), [], set(threading.enumerate())

    async def ask(name: str) -> None:
        for _ in range(3):
            await ledger.last_run("t")
            turns.append(name)

    await asyncio.gather(ask("one"), ask("other"))

    assert (turns, set(threading.enumerate())) == (["one", "other"] * 3, threads)
    assert asyncio.get_running_loop().time() == 0.0


async def test_two_event_loops_share_a_memory() -> None:
    one = MemoryLedger()
    run = await one.open_run("t", [STARTED])

    found = await asyncio.to_thread(asyncio.run, MemoryLedger(memory=one.memory).last_run("t"))

    assert found == run


async def test_an_owner_is_seen_to_live_whenever_somebody_looks_and_a_failed_look_changes_nothing() -> None:
    owner = MemoryLedger(pace=Pace(beat_s=0.0))
    run = await owner.open_run("t", [STARTED])
    async with owner.owned(run):
        beats = [await owner.memory.thread.run(_beat) for _ in range(3)]
        with pytest.raises(ZeroDivisionError):
            await owner.memory.thread.run(lambda db: (db.execute("DELETE FROM ledger_leases"), 1 // 0))
        beats.append(await owner.memory.thread.run(_beat))

    assert beats == sorted({*beats})


def _beat(db: Connection) -> int:
    (beat,) = db.execute("SELECT beat FROM ledger_leases").fetchone()
    return int(beat)


async def test_the_pulse_goes_with_the_first_that_is_asked_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock:
        now_s = 0.0

        def monotonic(self) -> float:
            return self.now_s

    clock, beats = Clock(), []
    monkeypatch.setattr(callers_thread, "time", clock)
    thread = CallersThread(_memory(), lambda: [lambda _: beats.append(clock.now_s)], 2.0)
    for clock.now_s in (0.0, 1.9, 2.0, 3.9, 9.0, 9.1):
        await thread.run(_one)

    assert beats == [2.0, 9.0]


async def test_a_pulse_that_fails_disturbs_nobody() -> None:
    def fails(_: Connection) -> None:
        raise sqlite3.OperationalError

    assert await CallersThread(_memory(), lambda: [fails], 0.0).run(_one) == 1


async def test_a_memory_that_nobody_uses_any_more_is_closed() -> None:
    memory = _memory()
    CallersThread(memory, list, 0.0).stop()

    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        memory.execute("SELECT 1")


def _memory() -> Connection:
    return Connection(":memory:")


def _one(db: Connection) -> Any:
    return db.execute("SELECT 1").fetchone()[0]
