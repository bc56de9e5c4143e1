"""`planner-executor replay`: replay a run from its record."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.exit_codes import ENDED_OTHERWISE, on_screen
from planner_executor.graph.cli.run_lookup import is_file, with_run
from planner_executor.graph.cli.screen import Screen


@on_screen
def replay(
    screen: Screen,
    run: options.RunOrFile,
    planner: Annotated[
        str | None,
        typer.Option("--planner", metavar="MODEL", help="Take plans from this model instead of the record."),
    ] = None,
    as_json: options.AsJson = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Replay a run with recorded model and tool results, and report the first divergence.

    The exit code is 0 if all decisions are the same, and 1 if the replay diverges.
    """
    from planner_executor.graph.replay.record_loading import replayed_file, replayed_run

    if is_file(run):
        played = asyncio.run(replayed_file(Path(run), planner))
    else:
        played = with_run(db, run, lambda runs: replayed_run(runs, run, planner))
    if as_json:
        screen.show_json(played.to_json())
    for line in () if as_json else played.lines():
        screen.show_text(line)
    if not played.is_same:
        raise typer.Exit(ENDED_OTHERWISE)
