"""The order of checkpoints is that in which they were stored: ids are made from a clock, which may be set back."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from planner_executor.graph.checkpoints.checkpoint import open_checkpointer
from planner_executor.graph.ledger.sqlite.thread_tables import LATEST
from planner_executor.graph.runs.thread_copy import copy_thread, open_place

Work = Callable[[Any], Awaitable[Any]]
IDS = ("9-nine", "5-five", "7-seven", "1-one")
"""Ids in the order in which they are stored; a clock that was only ever right would have sorted them."""


def on(database: str, work: Work) -> Any:
    """Do work with the saver of a database."""

    async def opened() -> Any:
        async with open_checkpointer(database) as saver:
            return await work(saver)

    return asyncio.run(opened())


async def put(saver: BaseCheckpointSaver[Any], *ids: str, thread: str = "t", namespace: str = "") -> None:
    """Store checkpoints, each the child of the one before and with a pending write."""
    config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": namespace}}
    for name in ids:
        versions = {"step": name}
        checkpoint: Any = {
            **empty_checkpoint(),
            "id": name,
            "channel_values": {"step": [name]},
            "channel_versions": versions,
        }
        config = await saver.aput(config, checkpoint, {"source": "loop", "step": ids.index(name)}, versions)
        await saver.aput_writes(config, [("answer", name)], f"task-{name}")


async def listed(saver: BaseCheckpointSaver[Any], thread: str = "t", **filters: Any) -> list[str]:
    """Return the checkpoints of a thread, each with its state and its pending write."""
    found = [one async for one in saver.alist({"configurable": {"thread_id": thread}}, **filters)]
    for one in found:
        name = one.checkpoint["id"]
        assert one.checkpoint["channel_values"] == {"step": [name]}
        assert [(write[1], write[2]) for write in one.pending_writes or []] == [("answer", name)]
    return [one.checkpoint["id"] for one in found]


async def latest(saver: BaseCheckpointSaver[Any], thread: str = "t", namespace: str = "") -> Any:
    found = await saver.aget_tuple({"configurable": {"thread_id": thread, "checkpoint_ns": namespace}})
    return found and (found.config["configurable"]["checkpoint_id"], found.checkpoint["channel_values"]["step"][0])


def place(name: str, **more: str) -> Any:
    return {"configurable": {"checkpoint_id": name, **more}}


async def test_the_latest_checkpoint_and_the_list_follow_the_order_of_storing(database: str) -> None:
    async with open_checkpointer(database) as saver:
        await put(saver, *IDS)
        assert await latest(saver) == ("1-one", "1-one")
        assert await listed(saver) == ["1-one", "7-seven", "5-five", "9-nine"]
        assert await listed(saver, limit=2) == ["1-one", "7-seven"]
        assert await listed(saver, before=place("7-seven")) == ["5-five", "9-nine"]
        assert await listed(saver, before=place("7-seven"), limit=1) == ["5-five"]
        assert await listed(saver, before=place("9-nine")) == await listed(saver, before=place("unknown")) == []
        assert await listed(saver, filter={"step": 1}) == ["5-five"]
        assert await latest(saver, "another") is None


async def test_a_checkpoint_of_the_same_id_in_another_thread_is_no_place_in_this_one(database: str) -> None:
    async with open_checkpointer(database) as saver:
        await put(saver, "a", "b")
        await put(saver, "b", "a", thread="u")
        assert await listed(saver, before=place("b")) == ["a"]
        assert await listed(saver, "u", before=place("b")) == []
        found = saver.alist(None, before=place("b", thread_id="t"))
        assert [one.config["configurable"]["thread_id"] async for one in found] == ["t"]


async def test_a_subgraph_goes_back_to_what_it_had_stored_before_a_checkpoint_of_its_parent(database: str) -> None:
    async with open_checkpointer(database) as saver:
        for root, sub in (("9", "8"), ("3", "2"), ("6", "5")):
            await put(saver, root)
            await put(saver, sub, namespace="sub")
        found = saver.alist({"configurable": {"thread_id": "t", "checkpoint_ns": "sub"}}, before=place("6"), limit=1)
        assert [one.checkpoint["id"] async for one in found] == ["2"]


async def test_a_checkpoint_that_is_stored_once_more_keeps_its_place(database: str) -> None:
    async with open_checkpointer(database) as saver:
        await put(saver, "a", "b")
        await put(saver, "a")
        assert await listed(saver) == ["b", "a"] and await latest(saver) == ("b", "b")


async def test_pruning_keeps_what_was_stored_last_of_each_namespace_with_its_write(database: str) -> None:
    async with open_checkpointer(database) as saver:
        await put(saver, *IDS)
        await put(saver, "x", "a", namespace="sub")
        await put(saver, *IDS, thread="u")
        await saver.aprune(["t"])
        assert sorted(await listed(saver)) == ["1-one", "a"] and len(await listed(saver, "u")) == 4
        assert await latest(saver) == ("1-one", "1-one") and await latest(saver, namespace="sub") == ("a", "a")
        assert (await saver.aget_tuple({"configurable": {"thread_id": "t"}})).parent_config is None


def test_a_copy_has_the_order_of_its_original(database: str, tmp_path: Path) -> None:
    async def work(saver: Any) -> list[str]:
        await put(saver, *IDS)
        await saver.acopy_thread("t", "copy")
        assert await listed(saver, "copy") == await listed(saver)
        return await listed(saver)

    async def elsewhere() -> list[str]:
        async with open_place(database) as source, open_place(tmp_path / "other.db") as target:
            await copy_thread(source, target, "t")
            return await listed(target.checkpointer)

    assert on(database, work) == asyncio.run(elsewhere())


def test_a_file_that_is_compacted_keeps_the_order(tmp_path: Path) -> None:
    async def work(saver: Any) -> list[str]:
        await put(saver, *IDS)
        await put(saver, *IDS, thread="u")
        await saver.adelete_thread("t")
        return await listed(saver, "u")

    before = on(str(tmp_path / "runs.db"), work)
    with closing(sqlite3.connect(tmp_path / "runs.db")) as file:
        file.execute("VACUUM")

    assert on(str(tmp_path / "runs.db"), lambda saver: listed(saver, "u")) == before == list(reversed(IDS))


def test_what_langgraphs_own_saver_stored_has_its_order_and_comes_before_what_follows(database: str) -> None:
    async def of_langgraph() -> None:
        if database.startswith("postgres"):
            from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

            async with AsyncPostgresSaver.from_conn_string(database) as saver:
                await saver.setup()
                await put(saver, "2", "3")
            return
        async with AsyncSqliteSaver.from_conn_string(database) as own:
            await put(own, "2", "3")

    async def work(saver: Any) -> None:
        assert await latest(saver) == ("3", "3")
        await put(saver, "1")
        assert await listed(saver) == ["1", "3", "2"]
        assert await listed(saver, before=place("3")) == ["2"]

    asyncio.run(of_langgraph())
    on(database, work)


@pytest.mark.parametrize("make", [open_checkpointer, AsyncSqliteSaver.from_conn_string], ids=["ours", "LangGraph's"])
def test_the_latest_checkpoint_of_a_long_thread_is_found_as_fast_as_that_of_a_short_one(
    tmp_path: Path, make: Callable[[str], Any]
) -> None:
    database = str(tmp_path / "runs.db")

    async def grown() -> None:
        async with make(database) as saver:
            await put(saver, *IDS, thread="short")
            config: Any = {"configurable": {"thread_id": "long", "checkpoint_ns": ""}}
            for number in range(300):
                await saver.aput(config, {**empty_checkpoint(), "id": str(number)}, {}, {})

    asyncio.run(grown())
    on(database, lambda saver: latest(saver, "short"))

    def steps(thread: str) -> int:
        """Return how many instructions SQLite takes."""
        taken: list[int] = []
        with closing(sqlite3.connect(database)) as db:
            db.set_progress_handler(lambda: taken.append(1), 1)
            db.execute(f"SELECT checkpoint_id FROM checkpoints {LATEST}", (thread, "")).fetchall()
        return len(taken)

    assert steps("long") == steps("short")
