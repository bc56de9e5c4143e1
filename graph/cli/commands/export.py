"""`planner-executor export`: a run's whole record as one file."""

from pathlib import Path
from typing import Annotated

import typer

from graph.cli import options
from graph.cli.exit_codes import reported
from graph.cli.run_lookup import with_run
from graph.cli.screen import Screen
from graph.cli.verification_text import lines
from graph.record_service import exported

File = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not be there yet.")]


def export(run: options.RunName, file: File, db: options.Database = options.DATABASE) -> None:
    """Write a run's events, and the artifacts they name, to one file that `verify` and `replay` take."""
    screen = Screen.here()
    with reported(screen):
        found = with_run(db, run, lambda runs: exported(runs, run, file))
        for line in lines(found):
            screen.say(line)
        screen.say(f"wrote {file}")
