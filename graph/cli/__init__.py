"""The command line `planner-executor`.

LangGraph, LangChain and the models are imported lazily, by the commands that need them.
"""

from collections.abc import Callable, Mapping

import typer

from planner_executor.graph.cli.command_group import CommandGroup
from planner_executor.graph.cli.commands.approvals import approvals
from planner_executor.graph.cli.commands.audit import audit
from planner_executor.graph.cli.commands.backup import backup
from planner_executor.graph.cli.commands.cancel import cancel
from planner_executor.graph.cli.commands.copy import copy
from planner_executor.graph.cli.commands.doctor import doctor
from planner_executor.graph.cli.commands.draw import draw
from planner_executor.graph.cli.commands.eval import evaluate
from planner_executor.graph.cli.commands.export import export
from planner_executor.graph.cli.commands.fork import fork
from planner_executor.graph.cli.commands.inbox import inbox_command
from planner_executor.graph.cli.commands.metrics import metrics
from planner_executor.graph.cli.commands.migrate import migrate
from planner_executor.graph.cli.commands.models import models
from planner_executor.graph.cli.commands.notify import notify
from planner_executor.graph.cli.commands.pause import pause
from planner_executor.graph.cli.commands.policy import policy
from planner_executor.graph.cli.commands.prune import prune
from planner_executor.graph.cli.commands.redact import redact
from planner_executor.graph.cli.commands.replay import replay
from planner_executor.graph.cli.commands.resume import resume
from planner_executor.graph.cli.commands.retry import retry
from planner_executor.graph.cli.commands.run import run
from planner_executor.graph.cli.commands.runs import runs
from planner_executor.graph.cli.commands.serve import serve
from planner_executor.graph.cli.commands.show import show
from planner_executor.graph.cli.commands.skip import skip
from planner_executor.graph.cli.commands.steer import steer
from planner_executor.graph.cli.commands.supply import supply
from planner_executor.graph.cli.commands.tools import tools
from planner_executor.graph.cli.commands.trust import trust
from planner_executor.graph.cli.commands.verify import verify
from planner_executor.graph.cli.commands.work import work
from planner_executor.graph.cli.exit_codes import EPILOG
from planner_executor.graph.cli.version import Version

__all__ = ["app"]

app = typer.Typer(
    name="planner-executor",
    cls=CommandGroup,
    epilog=EPILOG,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
COMMANDS: Mapping[str, Callable[..., None]] = {
    "run": run,
    "runs": runs,
    "inbox": inbox_command,
    "show": show,
    "resume": resume,
    "retry": retry,
    "fork": fork,
    "pause": pause,
    "steer": steer,
    "skip": skip,
    "approvals": approvals,
    "supply": supply,
    "cancel": cancel,
    "work": work,
    "draw": draw,
    "audit": audit,
    "verify": verify,
    "export": export,
    "replay": replay,
    "redact": redact,
    "prune": prune,
    "backup": backup,
    "copy": copy,
    "tools": tools,
    "trust": trust,
    "serve": serve,
    "notify": notify,
    "metrics": metrics,
    "doctor": doctor,
    "migrate": migrate,
    "eval": evaluate,
}
"""Command by name, in the order of `--help`; to add one, add a file to `graph/cli/commands/` and a row here."""


@app.callback()
def planner_executor(version: Version = False) -> None:
    """Turn a goal into a plan, review the plan and execute it; runs are stored in a database file."""


GROUPS = (models, policy)
"""Commands with subcommands."""

for name, command in COMMANDS.items():
    app.command(name, epilog=EPILOG)(command)
for group in GROUPS:
    app.add_typer(group)
