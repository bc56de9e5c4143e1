"""`planner-executor copy`: copy threads to another database."""

import asyncio
from contextlib import AsyncExitStack
from typing import Annotated

import typer

from graph.cli import options
from graph.cli.exit_codes import STORAGE, report_errors
from graph.cli.run_lookup import is_missing
from graph.cli.screen import Screen
from graph.errors import InputError, LedgerCorruptError
from graph.ledger.opening import shown
from graph.name_list import counted

Names = Annotated[
    list[str] | None, typer.Argument(metavar="RUN...", help="Runs to copy, each with all runs of its thread.")
]
Target = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="FILE|ADDRESS",
        callback=options.named,
        help="The other database: a file, or postgresql://...",
    ),
]
All = Annotated[bool, typer.Option("--all", help="Copy every thread.")]


def copy(to: Target, names: Names = None, all_: All = False, db: options.Database = options.DATABASE) -> None:
    """Copy threads with their runs and checkpoints to another database; the originals stay."""
    screen = Screen.here()
    with report_errors(screen):
        if bool(names) == all_:
            raise InputError("run", "name the runs to copy, or give --all")
        if is_missing(db):
            raise InputError("--db", f"the database {shown(db)} does not exist")
        is_open, is_damaged = asyncio.run(_copy(screen, db, to, names or []))
        if is_open:
            screen.say(f"continue these runs in one of the two databases only: {', '.join(is_open)}")
        if is_damaged:
            raise typer.Exit(STORAGE)


async def _copy(screen: Screen, db: str, to: str, names: list[str]) -> tuple[list[str], bool]:
    """Copy the threads, and return the runs that have not ended, and whether a thread is damaged."""
    from graph.runs import Runs
    from graph.thread_copy import copy_thread, open_place

    is_open, damaged = list[str](), list[str]()
    async with AsyncExitStack() as places:
        source = await places.enter_async_context(open_place(db))
        keys = [await Runs(source.ledger).find(name) for name in names] or await source.ledger.runs()
        if not keys:
            screen.say(f"{shown(db)} has no runs to copy")
            return [], False
        target = await places.enter_async_context(open_place(to))  # only now, since it is created by that
        for thread in dict.fromkeys(key.thread for key in reversed(keys)):
            try:
                copied = await copy_thread(source, target, thread)
            except LedgerCorruptError as error:
                screen.complain(f"thread {thread} is not copied: {error}")
                damaged.append(thread)
                continue
            for run in copied:
                events, artifacts = counted(len(run.rows), "event"), counted(len(run.artifacts), "artifact")
                screen.say(f"copied run {run.run}: {events}, {artifacts}")
                summary = await Runs(target.ledger).show(run.run)
                is_open += [] if summary.ended else [run.run]
    return is_open, bool(damaged)
