"""`planner-executor steer`: change what a run is to respect, or say what is wanted, while it is under way."""

from typing import Annotated

import typer

from graph.cli import options
from graph.cli.command_line import command
from graph.cli.exit_codes import reported
from graph.cli.run_lookup import find_run, with_runs
from graph.cli.screen import Screen
from graph.identity import local_user
from graph.record.amendment import Amendment, amendment_words


def steer(
    run: options.RunName,
    add: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CONSTRAINT]...", callback=lambda given: options.texts(given or [])),
    ] = None,
    withdraw: Annotated[
        list[str] | None, typer.Option("--withdraw", metavar="CONSTRAINT", help="A constraint that holds no longer.")
    ] = None,
    feedback: Annotated[
        str | None, typer.Option("--feedback", metavar="TEXT", callback=options.text, help="Words for the planner.")
    ] = None,
    db: options.Database = options.DATABASE,
) -> None:
    """Add constraints to a run that is under way, or withdraw some; it plans again before it goes on."""
    screen = Screen.here()
    with reported(screen):
        if not (add or withdraw or feedback):
            raise typer.BadParameter("say what changes: a constraint, --withdraw or --feedback")
        found = find_run(db, run)
        change = Amendment(tuple(add or ()), tuple(withdraw or ()), feedback, local_user())
        worked_on = with_runs(db, lambda runs: runs.steer(found.id, change))
        screen.say(f"{found.id}: {amendment_words(change.add, change.withdraw, change.feedback)}")
        where = "it executes elsewhere and plans again before its next call"
        screen.say(where if worked_on else f"go on with: {command('resume', found.id, db)}")
