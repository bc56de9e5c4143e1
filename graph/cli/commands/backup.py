"""`planner-executor backup`: copy the database while runs go on."""

from pathlib import Path
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.commands.doctor import megabytes
from planner_executor.graph.cli.database_file import check_exists
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.run_lookup import with_runs
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.ledger.database_name import shown


@on_screen
def backup(
    screen: Screen,
    file: Annotated[Path, typer.Argument(parser=options.path_of, metavar="FILE", help="A new file for the copy.")],
    db: options.Database = options.DATABASE,
) -> None:
    """Copy the database with its runs and checkpoints to a new file, as one moment has it; runs go on meanwhile."""
    check_exists(db)
    with_runs(db, lambda runs: runs.ledger.back_up(file))
    screen.say(f"backed up {shown(db)} to {file}: {megabytes(file.stat().st_size)}")
