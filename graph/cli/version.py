"""The option `--version` of the command line."""

from importlib.metadata import version
from typing import Annotated

import typer

DISTRIBUTION = "planner-executor"


def show_version(wanted: bool) -> None:
    """Print the version and end the command."""
    if wanted:
        typer.echo(f"{DISTRIBUTION} {version(DISTRIBUTION)}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and exit.")
]
