"""The message printed when Ctrl-C or SIGTERM stops the command."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planner_executor.graph.cli.command_line import command
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.cli.signals import Interrupted
from planner_executor.graph.errors import UnknownRunError
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import open_runs


@contextmanager
def report_interruption(screen: Screen, database: str | Path, name: str) -> Iterator[None]:
    """Print how to resume the run of that name or thread, then re-raise the interruption."""
    try:
        yield
    except KeyboardInterrupt:
        screen.say()
        words, whole = _message(database, name)
        screen.say(words, whole=whole)
        raise Interrupted from None


def _message(database: str | Path, name: str) -> tuple[str, str]:
    """Return what happened, and the command that is the next move."""
    try:
        run = asyncio.run(_recorded_run(database, name))
    except UnknownRunError:
        return "stopped before the run was recorded", ""
    if run.ended:
        return "the run had already ended; see:", command("show", run.id, database)
    state = "it waits for your decision" if run.status == "waiting" else "paused"
    return f"{state}; continue with:", command("resume", run.id, database, run.setup)


async def _recorded_run(database: str | Path, name: str) -> Run:
    async with open_runs(database) as runs:
        return await runs.show(name)
