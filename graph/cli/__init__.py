"""The command line `planner-executor`.

Importing it is light: LangGraph, LangChain and the models are loaded by the commands that need them.
"""

import typer

from graph.cli.cancel import cancel
from graph.cli.doctor import doctor
from graph.cli.draw import draw
from graph.cli.exits import EPILOG
from graph.cli.listing import runs
from graph.cli.pause import pause
from graph.cli.resume import resume
from graph.cli.run import run
from graph.cli.show import show
from graph.cli.tool_list import tools

__all__ = ["app"]

app = typer.Typer(
    name="planner-executor",
    help="Turn a goal into a plan, have it approved, and carry it out; runs are kept in a database file.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (run, runs, show, resume, pause, cancel, draw, tools, doctor):
    app.command(epilog=EPILOG)(command)
