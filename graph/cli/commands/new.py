"""`planner-executor new`: write a small project with tools, settings, a policy and a test."""

import shlex
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from planner_executor.graph.cli.command_line import program
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import InputError
from planner_executor.graph.errors.file_faults import file_faults

PROJECT = Path(__file__).parents[1] / "first_project"
INERT = ".txt"
"""What the names of Python files end with here, so that nothing takes them for modules of this package."""


@on_screen
def new(
    screen: Screen,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder that is empty, or not there yet.")],
) -> None:
    """Write a small project of your own: three tools, settings, a policy, a plan and a test."""
    with file_faults("FOLDER", f"{folder} cannot be written"):
        written = write_project(folder)
    screen.say(f"wrote {', '.join(written)}")
    screen.say(f"next: cd {shlex.quote(str(folder))} && {program()} trust", whole="")


def write_project(folder: Path) -> list[str]:
    """Write the project, and return the names of what is in its folder.

    Raises:
        InputError: The folder has something in it, or is none.
        OSError: It cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("FOLDER", f"{folder} is not empty; name a folder that is, or that is not there yet")
    for source in sorted(PROJECT.rglob("*.*")):
        target = folder / str(source.relative_to(PROJECT)).removesuffix(INERT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source.read_text("utf-8"), "utf-8")
    with closing(sqlite3.connect(folder / "suppliers.db")) as database:
        database.executescript((folder / "suppliers.sql").read_text("utf-8"))
    return sorted(entry.name for entry in folder.iterdir())
