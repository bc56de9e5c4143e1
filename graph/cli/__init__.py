"""The command line `planner-executor`.

Importing it is light: LangGraph, LangChain and the models are loaded by the commands that need them.
"""

import typer

from graph.cli.audit import audit
from graph.cli.cancel import cancel
from graph.cli.doctor import doctor
from graph.cli.draw import draw
from graph.cli.eval import evaluate
from graph.cli.exits import EPILOG
from graph.cli.export import export
from graph.cli.listing import runs
from graph.cli.metrics import metrics
from graph.cli.migrate import migrate
from graph.cli.models_check import models
from graph.cli.pause import pause
from graph.cli.policy import policy
from graph.cli.redact import redact
from graph.cli.replay import replay
from graph.cli.resume import resume
from graph.cli.run import run
from graph.cli.show import show
from graph.cli.steer import steer
from graph.cli.tool_list import tools
from graph.cli.trust import trust
from graph.cli.verify import verify

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
