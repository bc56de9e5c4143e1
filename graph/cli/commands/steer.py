"""`planner-executor steer`: change the constraints of an active run, or give it feedback."""

from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.actor import ActorOptions
from planner_executor.graph.cli.command_line import command
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.recorded_run import find_run
from planner_executor.graph.cli.run_lookup import with_runs
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.record.amendment import Amendment, amendment_words


@on_screen
@with_option_groups
def steer(
    screen: Screen,
    run: options.RunName,
    actor: ActorOptions,
    add: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CONSTRAINT]...",
            help="Constraints to add.",
            callback=lambda given: options.texts(given or []),
        ),
    ] = None,
    withdraw: Annotated[
        list[str] | None, typer.Option("--withdraw", metavar="CONSTRAINT", help="A constraint to remove.")
    ] = None,
    feedback: Annotated[
        str | None, typer.Option("--feedback", metavar="TEXT", callback=options.text, help="Feedback for the planner.")
    ] = None,
    db: options.Database = options.DATABASE,
) -> None:
    """Add or withdraw constraints of an active run, which replans before it continues."""
    if not (add or withdraw or feedback):
        raise typer.BadParameter("no change given; name a constraint, --withdraw or --feedback")
    found = find_run(db, run)
    change = Amendment(tuple(add or ()), tuple(withdraw or ()), feedback, str(actor.approver()))
    is_running = with_runs(db, lambda runs: runs.steer(found.id, change))
    screen.say(f"{found.id}: {amendment_words(change.add, change.withdraw, change.feedback)}")
    if is_running:
        screen.say("it runs in another process and replans before its next call")
    else:
        screen.say("continue with:", whole=command("resume", found.id, db, found.setup))
