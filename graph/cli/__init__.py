"""The command line `planner-executor`.

Importing it is light: LangGraph, LangChain and the models are loaded by the commands that need them.
"""

import typer

from graph.cli.commands.audit import audit
from graph.cli.commands.cancel import cancel
from graph.cli.commands.doctor import doctor
from graph.cli.commands.draw import draw
from graph.cli.commands.eval import evaluate
from graph.cli.commands.export import export
from graph.cli.commands.listing import runs
from graph.cli.commands.metrics import metrics
from graph.cli.commands.migrate import migrate
from graph.cli.commands.models_check import models
from graph.cli.commands.pause import pause
from graph.cli.commands.policy import policy
from graph.cli.commands.redact import redact
from graph.cli.commands.replay import replay
from graph.cli.commands.resume import resume
from graph.cli.commands.run import run
from graph.cli.commands.show import show
from graph.cli.commands.steer import steer
from graph.cli.commands.tool_list import tools
from graph.cli.commands.trust import trust
from graph.cli.commands.verify import verify
from graph.cli.exits import EPILOG

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
COMMANDS = (
    run,
    runs,
    show,
    resume,
    pause,
    steer,
    cancel,
    draw,
    audit,
    verify,
    export,
    replay,
    redact,
    tools,
    trust,
    metrics,
    doctor,
    migrate,
)
for command in COMMANDS:
    app.command(epilog=EPILOG)(command)
app.command("eval", epilog=EPILOG)(evaluate)
app.add_typer(models)
app.add_typer(policy)
