"""What is said when Ctrl-C or SIGTERM stops the command."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graph.cli.command_line import command
from graph.cli.screen import Screen
from graph.errors import UnknownRunError
from graph.runs import Run, open_runs


@contextmanager
def tell_interruption(screen: Screen, database: Path, name: str) -> Iterator[None]:
    """Say how to go on with the run of that name or thread, and let the interruption pass."""
    try:
        yield
    except KeyboardInterrupt:
        screen.say()
        screen.say(_sentence(database, name))
        raise


def _sentence(database: Path, name: str) -> str:
    try:
        run = asyncio.run(_stands(database, name))
    except UnknownRunError:
        return "stopped before anything was recorded"
    if run.ended:
        return f"the run had ended; look at it: {command('show', run.id, database)}"
    word = "it waits for your decision" if run.status == "waiting" else "paused"
    return f"{word}; go on with: {command('resume', run.id, database)}"


async def _stands(database: Path, name: str) -> Run:
    async with open_runs(database) as runs:
        return await runs.show(name)
