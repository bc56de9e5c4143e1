import asyncio
import gc
import threading
import weakref
from pathlib import Path

import pytest

from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.testing import drafted

STARTED = drafted("run_started", {"goal": "g", "constraints": []})


async def test_ledgers_on_one_memory_see_the_same_runs_also_once_one_is_closed() -> None:
    one = MemoryLedger()
    other = MemoryLedger(memory=one.memory)
    run = await one.open_run("t", [STARTED])
    await one.close()

    assert (await other.last_run("t"), await MemoryLedger().last_run("t")) == (run, None)


async def test_there_is_no_file_to_back_up_and_no_space_to_give_back(tmp_path: Path) -> None:
    ledger = MemoryLedger()

    with pytest.raises(InputError, match="no file to back up"):
        await ledger.back_up(tmp_path / "copy.db")
    assert await ledger.give_back()


async def test_a_value_is_taken_out_of_memory() -> None:
    ledger = MemoryLedger()
    await ledger.open_run("t", [drafted("run_started", {"goal": "pay DE1234567", "constraints": []})])

    assert (await ledger.redact("t", "DE1234567", "os:me", "asked")).remaining == ()


async def test_memory_is_used_on_the_thread_of_whoever_asks_and_no_loop_is_kept_from_others() -> None:
    ledger, turns, threads = MemoryLedger(), [], set(threading.enumerate())

    async def ask(name: str) -> None:
        for _ in range(3):
            await ledger.last_run("t")
            turns.append(name)

    await asyncio.gather(ask("one"), ask("other"))

    assert (turns, set(threading.enumerate())) == (["one", "other"] * 3, threads)


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


async def test_a_memory_is_closed_with_the_last_ledger_on_it() -> None:
    ledger = MemoryLedger()
    await ledger.open_run("t", [STARTED])
    memory = weakref.ref(ledger.memory)

    del ledger
    gc.collect()

    assert memory() is None


def _beat(db: Connection) -> int:
    (beat,) = db.execute("SELECT beat FROM ledger_leases").fetchone()
    return int(beat)
