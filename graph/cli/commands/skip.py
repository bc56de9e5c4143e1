"""`planner-executor skip`: leave a step of a run out."""

from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.actor import ActorOptions
from planner_executor.graph.cli.command_line import command
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.run_lookup import with_run
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.runs.step_changes import skip_step

Step = Annotated[str, typer.Argument(metavar="STEP", help="The id of a step that has not succeeded.")]


@on_screen
@with_option_groups
def skip(
    screen: Screen,
    run: options.RunName,
    step: Step,
    actor: ActorOptions,
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason, for the record.")] = "",
    db: options.Database = options.DATABASE,
) -> None:
    """Leave a step of a waiting or paused run out, and with it the steps that need it."""
    by = actor.approver()
    changed = with_run(db, run, lambda runs: skip_step(runs, run, step, why, by))
    needing = [name for name, status in changed.step_status.items() if status == "skipped" and name != step]
    more = f", and so {'are' if len(needing) > 1 else 'is'} {', '.join(needing)}" if needing else ""
    screen.say(f"{changed.id}: {step} is skipped{more}")
    screen.say("continue with:", whole=command("resume", changed.id, db, changed.setup))
