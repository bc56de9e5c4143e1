"""`planner-executor copy`: copy threads to another database."""

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.database_file import check_exists
from planner_executor.graph.cli.exit_codes import STORAGE, USAGE, on_screen
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import AgentError, InputError, LedgerError, LedgerUnavailableError
from planner_executor.graph.ledger.database_name import shown
from planner_executor.graph.words.name_list import counted

if TYPE_CHECKING:
    from planner_executor.graph.runs.thread_copy import Place


@on_screen
def copy(
    screen: Screen,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FILE|ADDRESS",
            callback=options.named,
            help="The other database: a file, or postgresql://...",
        ),
    ],
    names: Annotated[
        list[str] | None, typer.Argument(metavar="RUN...", help="Runs to copy, each with all runs of its thread.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Copy every thread.")] = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Copy threads with their runs and checkpoints to another database; the originals stay."""
    if bool(names) == all_:
        raise InputError("run", "name the runs to copy, or give --all")
    check_exists(db)
    left = asyncio.run(_copy(screen, db, to, names or []))
    if left:
        raise typer.Exit(STORAGE if any(isinstance(error, LedgerError) for error in left) else USAGE)


async def _copy(screen: Screen, db: str, to: str, names: list[str]) -> list[AgentError]:
    """Copy threads, and return why some stay: one that is there already, or in use, keeps no other back."""
    from planner_executor.graph.runs.runs import Runs
    from planner_executor.graph.runs.thread_copy import open_place

    going, left = list[str](), list[AgentError]()
    async with AsyncExitStack() as places:
        source = await places.enter_async_context(open_place(db))
        keys = [await Runs(source.ledger).find(name) for name in names] or await source.ledger.runs()
        if not keys:
            screen.say(f"{shown(db)} has no runs to copy")
            return []
        target = await places.enter_async_context(open_place(to))  # only now, since it is created by that
        try:
            for thread in dict.fromkeys(key.thread for key in reversed(keys)):
                try:
                    going += await _copy_one(screen, source, target, thread)
                # A database that is away keeps every thread back; any other fault is one thread's own.
                except LedgerUnavailableError:
                    raise
                except AgentError as error:
                    screen.complain(f"thread {thread} was not copied: {error}")
                    left.append(error)
        finally:
            # Also if the rest could not be copied: what is in both databases would be done twice.
            if going:
                screen.say(f"continue these runs in one of the two databases only: {', '.join(going)}")
    return left


async def _copy_one(screen: Screen, source: "Place", target: "Place", thread: str) -> list[str]:
    """Copy a thread, and return its runs that have not ended."""
    from planner_executor.graph.runs.runs import Runs
    from planner_executor.graph.runs.thread_copy import copy_thread

    copied = await copy_thread(source, target, thread)
    for run in copied:
        events, artifacts = counted(len(run.rows), "event"), counted(len(run.artifacts), "artifact")
        screen.say(f"copied run {run.run}: {events}, {artifacts}")
    return [run.run for run in copied if not (await Runs(target.ledger).show(run.run)).ended]
