"""What a server asks of a checkpointer, on a real PostgreSQL server."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from postgres_server import execute, new_schema

from planner_executor.graph.checkpoints.checkpoint import open_checkpointer
from planner_executor.graph.checkpoints.postgres_saver import CONNECTIONS, PostgresSaver
from planner_executor.graph.errors import InputError, LedgerUnavailableError

pytestmark = pytest.mark.e2e

Work = Callable[[PostgresSaver], Awaitable[Any]]


@pytest.fixture
def address() -> str:
    return new_schema()


@asynccontextmanager
async def opened(address: str) -> AsyncIterator[PostgresSaver]:
    async with open_checkpointer(address) as saver:
        assert isinstance(saver, PostgresSaver)
        yield saver


async def made(saver: BaseCheckpointSaver[Any], thread: str, *server_runs: str) -> list[str]:
    """Make a checkpoint for each run of the server, each with a pending write, and return their ids."""
    config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    ids = []
    for step, server_run in enumerate(server_runs):
        checkpoint = empty_checkpoint() | {"channel_values": {"step": [step]}, "channel_versions": {"step": str(step)}}
        config = await saver.aput(config, checkpoint, {"run_id": server_run, "step": step}, {"step": str(step)})
        await saver.aput_writes(config, [("answer", step)], f"task-{step}")
        ids.append(checkpoint["id"])
    return ids


async def kept(saver: BaseCheckpointSaver[Any], thread: str) -> list[tuple[str, list[int], int]]:
    """Return what is left of a thread, the latest first: checkpoints, their values, and how much was written."""
    found = [one async for one in saver.alist({"configurable": {"thread_id": thread}})]
    return [
        (one.checkpoint["id"], one.checkpoint["channel_values"]["step"], len(one.pending_writes or [])) for one in found
    ]


def test_no_optional_method_of_the_interface_is_left_out() -> None:
    optional = [name for name, method in inspect.getmembers(BaseCheckpointSaver) if name.startswith(("a", "delete"))]
    served = [name for name in optional if name in ("adelete_thread", "adelete_for_runs", "acopy_thread", "aprune")]

    assert len(served) == 4
    assert all(getattr(PostgresSaver, name) is not getattr(BaseCheckpointSaver, name) for name in served)


async def test_several_may_make_the_tables_at_once(address: str) -> None:
    async def one() -> None:
        async with open_checkpointer(address) as saver:
            await made(saver, "t", "run")

    await asyncio.gather(*(one() for _ in range(4)))

    assert execute(address, "SELECT count(*) FROM checkpoints") == [(4,)]


async def test_a_rollback_deletes_the_checkpoints_of_its_runs_on_all_threads_and_no_others(address: str) -> None:
    async with opened(address) as saver:
        (_, kept_one, _), (other,) = await made(saver, "t", "a", "b", "c"), await made(saver, "other", "b")
        await saver.adelete_for_runs(["a", "c"])
        assert [found[0] for found in await kept(saver, "t")] == [kept_one]
        assert await kept(saver, "other") == [(other, [0], 1)]
    orphans = (
        "SELECT count(*) FROM checkpoint_writes WHERE checkpoint_id NOT IN (SELECT checkpoint_id FROM checkpoints)"
    )
    assert execute(address, orphans) == [(0,)]


async def test_a_copy_holds_every_checkpoint_and_write_and_belongs_to_no_run_of_the_server(address: str) -> None:
    async with opened(address) as saver:
        await made(saver, "t", "a", "b")
        await saver.acopy_thread("t", "copy")
        await saver.acopy_thread("t", "t")
        assert await kept(saver, "copy") == await kept(saver, "t")
        await saver.adelete_for_runs(["a", "b"])
        assert len(await kept(saver, "copy")) == 2 and await kept(saver, "t") == []
        found = await saver.aget_tuple({"configurable": {"thread_id": "copy"}})
        assert found is not None and found.metadata["thread_id"] == "copy"  # type: ignore[typeddict-item]


async def test_pruning_keeps_the_latest_checkpoint_or_deletes_the_thread(address: str) -> None:
    async with opened(address) as saver:
        for thread in ("a", "b", "c"):
            await made(saver, thread, "x", "y")
        (last, _) = await kept(saver, "a")
        await saver.aprune(["a"])
        assert await kept(saver, "a") == [last]
        await saver.aprune(["b"], strategy="delete_all")
        assert await kept(saver, "b") == [] and len(await kept(saver, "c")) == 2
        with pytest.raises(InputError):
            await saver.aprune(["c"], strategy="all of it")
        await asyncio.to_thread(saver.delete_thread, "c")
        assert await kept(saver, "c") == []
        with pytest.raises(asyncio.InvalidStateError):
            saver.delete_thread("c")


async def test_pruning_removes_what_a_call_of_a_subgraph_left_with_the_checkpoint_it_was_made_from(
    address: str,
) -> None:
    async with opened(address) as saver:
        first, last = await made(saver, "t", "x", "y")
        for root, namespace in ((first, "node:1"), (last, "node:2"), ("not yet stored", "node:3"), (first, "node")):
            config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": namespace}}
            values: Any = {"channel_values": {"a": [1]}, "channel_versions": {"a": "1"}}
            await saver.aput(config, empty_checkpoint() | values, {"parents": {"": root}}, {"a": "1"})
        await saver.aprune(["t"])
        left = [one.config["configurable"]["checkpoint_ns"] async for one in saver.alist(None)]
        assert sorted(left) == ["", "node", "node:2", "node:3"]
        values = execute(address, "SELECT checkpoint_ns, version FROM checkpoint_blobs ORDER BY 1")
        assert values == [("", "1"), ("node", "1"), ("node:2", "1"), ("node:3", "1")]


async def test_a_thread_whose_state_is_told_by_earlier_checkpoints_is_not_pruned(address: str) -> None:
    async with opened(address) as saver:
        config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        for step in range(2):
            counters: Any = {"counters_since_delta_snapshot": {"a": step}}
            config = await saver.aput(config, empty_checkpoint(), counters, {})
        with pytest.raises(InputError, match="DeltaChannel"):
            await saver.aprune(["t"])
        assert len([one async for one in saver.alist(None)]) == 2


async def test_a_row_that_cannot_be_read_is_a_typed_error(address: str) -> None:
    async with opened(address) as saver:
        await made(saver, "t", "a")
        execute(address, "UPDATE checkpoint_blobs SET type = 'pickle'")
        with pytest.raises(LedgerUnavailableError, match="thread t"):
            await saver.aget_tuple({"configurable": {"thread_id": "t"}})


@pytest.mark.parametrize(("text", "kept"), [("a\0b", "a\0b"), ("\x01\x02", "\x01\x02"), ("a\ud800", "a?")])
async def test_a_text_that_jsonb_refuses_is_kept_in_the_state(address: str, text: str, kept: str) -> None:
    config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}

    async with opened(address) as saver:
        checkpoint = empty_checkpoint() | {"channel_values": {"goal": text}, "channel_versions": {"goal": "1"}}
        await saver.aput(config, checkpoint, {}, {"goal": "1"})
        found = [await saver.aget_tuple(config), *[one async for one in saver.alist(config)]]

        assert [one.checkpoint["channel_values"] for one in found if one] == [{"goal": kept}] * 2


async def test_a_process_that_is_stopped_while_it_writes_keeps_others_waiting_for_half_a_minute_at_most(
    address: str,
) -> None:
    async with opened(address) as saver, saver._cursor(pipeline=True) as cursor:
        await cursor.execute("SELECT current_setting('idle_in_transaction_session_timeout') AS most")
        found = await cursor.fetchone()

    assert found == {"most": "30s"}


async def test_a_connection_that_the_server_ended_is_replaced(address: str) -> None:
    async with opened(f"{address}&application_name=ended") as saver:
        await made(saver, "t", "a")
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ended'"
        execute(address, ended)
        assert len(await kept(saver, "t")) == 1


async def test_a_run_waits_longer_than_for_a_server_that_is_away_while_others_work(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planner_executor.graph.checkpoints.postgres_saver.PATIENCE_S", 0.2)

    async with opened(address) as saver:
        over = asyncio.Event()

        async def hold() -> None:
            async with saver._cursor():
                await over.wait()

        async with asyncio.TaskGroup() as tasks:
            for _ in range(CONNECTIONS):
                tasks.create_task(hold())
            waiting = tasks.create_task(made(saver, "t", "run"))
            done, _ = await asyncio.wait([waiting], timeout=1.0)
            assert not done
            over.set()
        assert len(waiting.result()) == 1
