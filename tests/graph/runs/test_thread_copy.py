"""Threads that are copied between databases: they go on there, and their exports are the same bytes."""

import asyncio
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import pytest
from postgres_server import new_schema

from planner_executor import Agent
from planner_executor.graph.errors import InputError, RunOwnedError
from planner_executor.graph.ledger.export import to_bytes
from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.policy.retention import Retention
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.replay.player import replayed
from planner_executor.graph.runs.retention import prune
from planner_executor.graph.runs.thread_copy import copy_thread, open_place
from planner_executor.graph.testing import drafted

GOAL = "Compute 40 + 2"
DIRECT = {"steps": [], "answer": 2}
FILE, POSTGRES = "sqlite", pytest.param("postgres", marks=pytest.mark.e2e)
BOTH = pytest.mark.parametrize("target", [FILE, POSTGRES])
FROM = pytest.mark.parametrize("source", [FILE, POSTGRES])
Database = Callable[[str], str]


@pytest.fixture
def database(tmp_path: Path) -> Database:
    made: list[str] = []

    def make(kind: str) -> str:
        made.append(new_schema() if kind == "postgres" else str(tmp_path / f"{len(made)}.db"))
        return made[-1]

    return make


def copied(source: str, target: str, thread: str = "t") -> Any:
    async def main() -> Any:
        async with open_place(source) as one, open_place(target) as other:
            return await copy_thread(one, other, thread)

    return asyncio.run(main())


def pruned(database: str) -> None:
    async def main() -> None:
        async with open_place(database) as place:
            assert (await prune(place.ledger, Retention(inf), "os:ada")).runs == 1

    asyncio.run(main())


def exported(database: str, run: RunKey) -> bytes:
    async def main() -> bytes:
        async with open_place(database) as place:
            transcript = await place.ledger.transcript(run)
            assert (await replayed(transcript)).is_same
            return to_bytes(transcript)

    return asyncio.run(main())


@FROM
@BOTH
def test_a_run_that_waits_goes_on_in_the_copy(database: Database, source: str, target: str) -> None:
    first, second = database(source), database(target)
    with Agent(first) as agent:
        assert agent.start(GOAL, thread="t").status == "waiting"
    copied(first, second)
    with Agent(second) as agent:
        run = agent.resume("t", True)
        assert (run.status, run.answer) == ("succeeded", 42)
        assert agent.start(GOAL, thread="t").id == "t.2"


@FROM
@BOTH
def test_a_run_that_has_ended_is_exported_and_replayed_the_same(database: Database, source: str, target: str) -> None:
    first, second = database(source), database(target)
    with Agent(first) as agent:
        agent.start(GOAL, thread="t")
        agent.resume("t", True)
    copied(first, second)
    assert exported(first, RunKey("t", 1)) == exported(second, RunKey("t", 1))
    third = database("sqlite")
    copied(second, third)
    assert exported(first, RunKey("t", 1)) == exported(third, RunKey("t", 1))


@BOTH
def test_a_thread_whose_first_runs_were_pruned_is_copied(database: Database, target: str) -> None:
    first, second, third = database("sqlite"), database(target), database("sqlite")
    with Agent(first) as agent:
        agent.start("What is 1 + 1?", thread="t", plan=DIRECT)
    pruned(first)
    with Agent(first) as agent:
        assert agent.start(GOAL, thread="t").id == "t.2"
    copied(first, second)
    copied(second, third)
    with Agent(third) as agent:
        run = agent.resume("t", True)
        assert (run.id, run.status) == ("t.2", "succeeded")


def test_a_thread_that_is_there_is_not_copied_over(database: Database) -> None:
    first, second = database("sqlite"), database("sqlite")
    with Agent(first) as agent:
        agent.start(GOAL, thread="t")
    copied(first, second)

    with pytest.raises(InputError):
        copied(first, second)


async def test_a_run_that_is_worked_on_or_has_a_message_is_not_copied(database: Database) -> None:
    first, second = database("sqlite"), database("sqlite")

    ledger = SqliteLedger(first, pace=Pace(beat_s=0.01, look_s=0.005))
    run = await ledger.open_run("t", [drafted("run_started", {"goal": "g", "constraints": []})])
    async with open_place(first) as source, open_place(second) as target:
        async with ledger.owned(run):
            with pytest.raises(RunOwnedError):
                await copy_thread(source, target, "t")
        await ledger.post(run, "pause")
        with pytest.raises(InputError):
            await copy_thread(source, target, "t")
        assert await target.ledger.last_run("t") is None
    await ledger.close()
