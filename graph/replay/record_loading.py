"""Loading the record to replay, from a database or an exported file; damaged records are refused."""

import asyncio
from pathlib import Path

from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.chat_models.roles import role_model
from planner_executor.graph.chat_models.settings import ModelSpec
from planner_executor.graph.errors import ExportError
from planner_executor.graph.large_work import LARGE, done_aside
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.replay.player import replayed
from planner_executor.graph.replay.report import Replay
from planner_executor.graph.runs.record_service import transcript_in, whole
from planner_executor.graph.runs.runs import Runs

STRANGE = (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError)
"""Errors raised while events of an unexpected shape are replayed."""


async def replayed_run(runs: Runs, name: str, planner: ModelSpec | None = None) -> Replay:
    """Replay a run from its record alone and return the first divergence; no tool is called.

    Args:
        runs: Runs of the ledger that holds the run.
        name: Its id, or its thread.
        planner: A model to plan in place of the recorded one.

    Raises:
        UnknownRunError: There is no such run.
        LedgerCorruptError: The record is damaged.
        InputError: The record's version is not supported.
        ConfigError: The planner is invalid.
    """
    transcript = await runs.ledger.transcript(await runs.find(name))
    checked = await done_aside(len(transcript.rows), lambda: whole(transcript, runs.ledger.name))
    return await _played(checked, planner)


async def replayed_file(path: Path, planner: ModelSpec | None = None) -> Replay:
    """Replay the run in an exported file, without a database; see `replayed_run`.

    Raises:
        ExportError: The file is not an exported run, or is damaged.
    """
    transcript = await run_sync(lambda: transcript_in(path))
    try:
        return await _played(transcript, planner)
    except STRANGE as error:  # a forged file may have an intact chain with any events
        why = f"begins a record that this program did not write ({type(error).__name__})"
        raise ExportError(str(path), 2, why) from error


async def _played(transcript: Transcript, planner: ModelSpec | None) -> Replay:
    other = await run_sync(lambda: role_model(planner)) if planner is not None else None
    if other is None and len(transcript.rows) > LARGE:  # it waits for nobody: a long one has a loop of its own
        return await asyncio.to_thread(asyncio.run, replayed(transcript))
    return await replayed(transcript, other)
