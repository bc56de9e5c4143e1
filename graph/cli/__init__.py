"""The command line `planner-executor`.

A command's module is imported when the command is used; LangGraph, LangChain and the models by what needs them.
"""

import typer

from planner_executor.graph.cli.command_group import AllCommands
from planner_executor.graph.cli.epilog import EPILOG
from planner_executor.graph.cli.version import Version

__all__ = ["app"]

app = typer.Typer(
    name="planner-executor",
    cls=AllCommands,
    epilog=EPILOG,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def planner_executor(version: Version = False) -> None:
    """Turn a goal into a plan, review the plan and execute it; runs are stored in a database file."""
