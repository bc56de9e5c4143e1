"""`planner-executor export`: the full record of a run as one file."""

from pathlib import Path
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.run_lookup import with_run
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.cli.verification_text import lines
from planner_executor.graph.runs.record_service import exported


@on_screen
def export(
    screen: Screen,
    run: options.RunName,
    file: Annotated[
        Path, typer.Argument(parser=options.path_of, metavar="FILE", help="The file to write; it must not exist yet.")
    ],
    db: options.Database = options.DATABASE,
) -> None:
    """Write the events and artifacts of a run to one file, which `verify` and `replay` accept."""
    found = with_run(db, run, lambda runs: exported(runs, run, file))
    screen.say_each(lines(found))
    screen.say(f"wrote {file}")
