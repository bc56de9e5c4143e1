"""`planner-executor supply`: give the result of a step."""

from pathlib import Path
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.actor import ActorOptions
from planner_executor.graph.cli.command_line import command
from planner_executor.graph.cli.commands.skip import Step
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.run_lookup import with_run
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors.file_faults import file_faults
from planner_executor.graph.plan.depth import parse_json_or_text
from planner_executor.graph.runs.step_changes import supply_result


@on_screen
@with_option_groups
def supply(
    screen: Screen,
    run: options.RunName,
    step: Step,
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="The result, as JSON or text; @FILE reads it from a file.")
    ],
    actor: ActorOptions,
    db: options.Database = options.DATABASE,
) -> None:
    """Give the result of a step of a waiting or paused run, which is then not executed; its checks still apply."""
    by = actor.approver()
    result = parse_json_or_text(_text(value))
    changed = with_run(db, run, lambda runs: supply_result(runs, run, step, result, by))
    screen.say(f"{changed.id}: {step} has the result that you gave")
    screen.say("continue with:", whole=command("resume", changed.id, db, changed.setup))


def _text(value: str) -> str:
    """Return the value, or the text of the file that it names.

    Raises:
        InputError: The file cannot be read.
    """
    if not value.startswith("@"):
        return value
    with file_faults("VALUE", f"{value[1:]} cannot be read"):
        return Path(value[1:]).read_text("utf-8-sig")
