"""A thread copied to another database, with its runs, artifacts and checkpoints."""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from planner_executor.graph.checkpoints.checkpoint import open_checkpointer
from planner_executor.graph.checkpoints.lean_saver import LeanSaver
from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs.record_service import whole
from planner_executor.graph.runs.runs import open_runs


@dataclass(frozen=True)
class Place:
    """A database: its ledger and its checkpointer."""

    ledger: RunStore
    checkpointer: BaseCheckpointSaver[Any]


@asynccontextmanager
async def open_place(database: str | Path) -> AsyncIterator[Place]:
    """Open both halves of a database."""
    async with open_runs(database) as runs, open_checkpointer(database) as checkpointer:
        yield Place(runs.ledger, checkpointer)


async def copy_thread(source: Place, target: Place, thread: str) -> Sequence[Transcript]:
    """Copy a thread, and return its runs; exports of both are the same bytes.

    All runs of the thread are owned meanwhile. Both databases hold the thread afterwards: a run that has not ended must
    go on in one of them only, since neither knows what the other does.

    Raises:
        InputError: The target has such a thread, or a message waits in the inbox of one of the runs.
        RunOwnedError: A run is being worked on.
        LedgerCorruptError: A record is damaged.
        LedgerUnavailableError: One of the databases cannot be used; the target has no such thread.
    """
    numbers = await source.ledger.numbers(thread)  # those before the first are pruned
    async with AsyncExitStack() as owned:
        transcripts = []
        for n in numbers:
            run = RunKey(thread, n)
            taken = await owned.enter_async_context(source.ledger.owned_and_read(run))
            # A message would be read by one of the two runs alone.
            if taken.news.has_messages:
                raise InputError("run", f"a message waits for run {run.id}; resume the run, then copy it")
            transcripts.append(whole(await source.ledger.transcript(run), source.ledger.name))
        # Checkpoints come first: without runs they are nothing, and the runs appear all at once.
        await _copy_checkpoints(source.checkpointer, target.checkpointer, thread)
        await target.ledger.adopt(transcripts)
    return transcripts


async def _copy_checkpoints(source: BaseCheckpointSaver[Any], target: BaseCheckpointSaver[Any], thread: str) -> None:
    found = [saved async for saved in source.alist({"configurable": {"thread_id": thread}})]
    for saved in reversed(found):  # they are stored in the order in which they were
        await _put(target, saved)


async def _put(target: BaseCheckpointSaver[Any], saved: CheckpointTuple) -> None:
    place = saved.config["configurable"]
    parent = saved.parent_config["configurable"]["checkpoint_id"] if saved.parent_config else None
    before = {**place, "checkpoint_id": parent} if parent else {k: v for k, v in place.items() if k != "checkpoint_id"}
    versions = saved.checkpoint["channel_versions"]
    config = await target.aput({"configurable": before}, saved.checkpoint, saved.metadata, versions)
    by_task: defaultdict[str, list[tuple[str, Any]]] = defaultdict(list)
    for task, channel, value in saved.pending_writes or ():
        by_task[task].append((channel, value))
    for task, writes in by_task.items():
        if isinstance(target, LeanSaver):  # it would keep a node's result in memory, for the checkpoint that follows
            key = (place["thread_id"], place.get("checkpoint_ns", ""), saved.checkpoint["id"])
            await target.put_writes_now(key, writes, task, "")
        else:
            await target.aput_writes(config, writes, task)
