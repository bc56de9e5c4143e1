import gc
import weakref
from pathlib import Path

import pytest

from planner_executor.graph.errors import InputError
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


async def test_a_memory_is_closed_with_the_last_ledger_on_it() -> None:
    ledger = MemoryLedger()
    await ledger.open_run("t", [STARTED])
    memory = weakref.ref(ledger.memory)

    del ledger
    gc.collect()

    assert memory() is None
