"""What a server asks of a checkpointer: every optional method of LangGraph's interface, on a real file."""

import asyncio
import inspect
import json
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint

from planner_executor.graph.checkpoints.checkpoint import open_checkpointer
from planner_executor.graph.checkpoints.saver import SharingSaver
from planner_executor.graph.errors import InputError, LedgerUnavailableError
from planner_executor.graph.ledger.sqlite import busy_timeout

Work = Callable[[SharingSaver], Awaitable[Any]]


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[SharingSaver]:
    async with open_checkpointer(folder / "runs.db") as saver:
        assert isinstance(saver, SharingSaver)
        yield saver


async def made(saver: SharingSaver, thread: str, *server_runs: str) -> list[str]:
    """Make a checkpoint for each run of the server, each with a pending write, and return their ids."""
    config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    ids = []
    for step, server_run in enumerate(server_runs):
        checkpoint = empty_checkpoint() | {"channel_values": {"step": step}}
        config = await saver.aput(config, checkpoint, {"run_id": server_run, "step": step}, {})
        await saver.aput_writes(config, [("answer", step)], f"task-{step}")
        ids.append(checkpoint["id"])
    return ids


async def kept(saver: SharingSaver, thread: str) -> list[tuple[str, int]]:
    """Return what is left of a thread, the latest first: checkpoints, and how much was written at each."""
    config: Any = {"configurable": {"thread_id": thread}}
    return [(found.checkpoint["id"], len(found.pending_writes or [])) async for found in saver.alist(config)]


def orphans(folder: Path) -> int:
    """Return how many writes belong to no checkpoint."""
    query = "SELECT count(*) FROM writes WHERE checkpoint_id NOT IN (SELECT checkpoint_id FROM checkpoints)"
    connection = sqlite3.connect(folder / "runs.db")
    try:
        return int(connection.execute(query).fetchone()[0])
    finally:
        connection.close()


def test_no_optional_method_of_the_interface_is_left_out() -> None:
    refuses = [
        name
        for name, method in inspect.getmembers(BaseCheckpointSaver, inspect.isfunction)
        if not name.startswith("_") and "raise NotImplementedError" in inspect.getsource(method)
    ]

    assert {"adelete_for_runs", "acopy_thread", "aprune", "adelete_thread", "prune"} <= set(refuses)
    assert [name for name in refuses if getattr(SharingSaver, name) is getattr(BaseCheckpointSaver, name)] == []


async def test_a_rollback_deletes_the_checkpoints_of_its_runs_on_all_threads_and_no_others(tmp_path: Path) -> None:
    async with opened(tmp_path) as saver:
        ids, other = await made(saver, "a", "r1", "r2", "r2", "r3"), await made(saver, "b", "r2", "r9")
        await saver.adelete_for_runs(["r2", "r3", "unknown"])
        ids, other, left, left_over = (ids, other, await kept(saver, "a"), await kept(saver, "b"))

    assert left == [(ids[0], 1)] and left_over == [(other[1], 1)] and orphans(tmp_path) == 0


@pytest.mark.parametrize("metadata", [b"no json", b'{"score": NaN}', b"[]", b'"r1"', None])
async def test_metadata_that_are_no_object_belong_to_no_run_and_stop_nothing(
    tmp_path: Path, metadata: bytes | None
) -> None:
    async with opened(tmp_path) as saver:
        await made(saver, "a", "r1", "r2")
        await saver.conn.execute(
            "UPDATE checkpoints SET metadata = ? WHERE CAST(metadata AS TEXT) LIKE '%r2%'", (metadata,)
        )
        await saver.conn.commit()
        await saver.adelete_for_runs(["r1"])
        await saver.acopy_thread("a", "b")
        async with saver.conn.execute("SELECT thread_id, metadata FROM checkpoints ORDER BY 1") as rows:
            assert [tuple(row) for row in await rows.fetchall()] == [("a", metadata), ("b", metadata)]


async def test_a_copy_holds_every_checkpoint_and_write_and_belongs_to_no_run_of_the_server(tmp_path: Path) -> None:
    async with opened(tmp_path) as saver:
        await made(saver, "a", "r1", "r2")
        await saver.acopy_thread("a", "b")
        await saver.adelete_for_runs(["r1", "r2"])
        config: Any = {"configurable": {"thread_id": "b"}}
        left, copied, (latest, first) = (
            await kept(saver, "a"),
            await kept(saver, "b"),
            [found async for found in saver.alist(config)],
        )

    assert left == [] and [writes for _, writes in copied] == [1, 1]
    assert latest.metadata == {"step": 1, "thread_id": "b"} and latest.checkpoint["channel_values"] == {"step": 1}
    assert latest.parent_config is not None
    assert latest.parent_config["configurable"]["checkpoint_id"] == first.checkpoint["id"]


async def test_a_thread_that_is_copied_onto_itself_stays_as_it_is(tmp_path: Path) -> None:
    async with opened(tmp_path) as saver:
        await made(saver, "a", "r1")
        await saver.acopy_thread("a", "a")
        async with saver.conn.execute("SELECT metadata FROM checkpoints") as rows:
            assert [json.loads(row[0])["run_id"] for row in await rows.fetchall()] == ["r1"]


async def test_pruning_keeps_the_latest_checkpoint_of_the_threads_named(tmp_path: Path) -> None:
    async with opened(tmp_path) as saver:
        ids, other = await made(saver, "a", "r1", "r2", "r3"), await made(saver, "b", "r1", "r2")
        await saver.aprune(["a", "unknown"])
        found = await saver.aget_tuple({"configurable": {"thread_id": "a"}})
        ids, other, left, untouched, found = (ids, other, await kept(saver, "a"), await kept(saver, "b"), found)

    assert left == [(ids[-1], 1)] and untouched == [(name, 1) for name in reversed(other)]
    assert found.parent_config is None and orphans(tmp_path) == 0


@pytest.mark.parametrize("strategy", ["delete", "delete_all"])
async def test_pruning_all_deletes_the_thread(tmp_path: Path, strategy: str) -> None:
    async with opened(tmp_path) as saver:
        await made(saver, "a", "r1", "r2")
        await saver.aprune(["a"], strategy=strategy)
        assert await kept(saver, "a") == [] and orphans(tmp_path) == 0


async def test_an_unknown_way_to_prune_is_an_error_and_deletes_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as saver:
        await made(saver, "a", "r1")
        with pytest.raises(InputError) as caught:
            await saver.aprune(["a"], strategy="keep_some")
        field, left = (caught.value.field, await kept(saver, "a"))

    assert field == "strategy" and len(left) == 1


async def test_the_synchronous_twins_do_the_same_from_another_thread_and_refuse_the_savers_own_loop(
    tmp_path: Path,
) -> None:
    def twins(saver: SharingSaver) -> None:
        saver.copy_thread("a", "b")
        saver.prune(["b"])
        saver.delete_for_runs(["r2"])
        saver.delete_thread("c")

    async with opened(tmp_path) as shared:
        await made(shared, "a", "r1", "r2")
        await made(shared, "c", "r3")
        await asyncio.to_thread(twins, shared)
        with pytest.raises(asyncio.InvalidStateError):
            shared.delete_thread("a")
        assert [len(await kept(shared, thread)) for thread in "abc"] == [1, 1, 0]


async def test_a_locked_file_is_a_typed_error_and_nothing_is_half_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(busy_timeout, "BUSY_S", 0.2)

    async with opened(tmp_path) as saver:
        await made(saver, "a", "r1")
        other = sqlite3.connect(tmp_path / "runs.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            with pytest.raises(LedgerUnavailableError):
                await saver.adelete_thread("a")
        finally:
            other.close()
        assert len(await kept(saver, "a")) == 1


async def test_of_the_writes_of_a_node_all_are_kept_or_none_if_the_file_is_locked_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(busy_timeout, "BUSY_S", 0.05)
    inserts: list[str] = []

    async with opened(tmp_path) as saver:
        await made(saver, "a", "r1")
        other = sqlite3.connect(tmp_path / "runs.db", isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")

        def until_the_second(statement: str) -> None:
            inserts.extend([statement] if statement.startswith("INSERT") else [])
            if len(inserts) == 2:
                other.execute("ROLLBACK")

        await saver.conn.set_trace_callback(until_the_second)
        try:
            with pytest.raises(LedgerUnavailableError):
                await saver.put_writes_now(("a", "", "1"), [("one", 1), ("two", 2)], "task", "")
        finally:
            await saver.conn.set_trace_callback(lambda _: None)
            other.close()
        found = await saver.conn.execute_fetchall("SELECT channel FROM writes WHERE task_id = 'task'")
        assert [channel for (channel,) in found] == [] and inserts


async def test_a_thread_whose_name_cannot_be_stored_is_a_fault_of_the_caller(tmp_path: Path) -> None:
    async with opened(tmp_path) as saver:
        with pytest.raises(InputError, match="clean text"):
            await saver.aget_tuple({"configurable": {"thread_id": "a\ud800"}})
