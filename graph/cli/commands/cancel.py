"""`planner-executor cancel`: end a run."""

import typer

from graph.cli import options
from graph.cli.exit_codes import ENDED_OTHERWISE, reported
from graph.cli.outcome import headline
from graph.cli.run_lookup import find_run, with_runs
from graph.cli.screen import Screen


def cancel(run: options.RunName, db: options.Database = options.DATABASE) -> None:
    """End a run that has not ended; what it has done stays done."""
    screen = Screen.here()
    with reported(screen):
        found = find_run(db, run)
        if found.ended:
            screen.say(f"{found.id} had ended already, {headline(found)}")
            raise typer.Exit(0 if found.status == "cancelled" else ENDED_OTHERWISE)
        ended = with_runs(db, lambda runs: runs.cancel(found.id))
        told = f"is {ended.status}" if ended.ended else "executes elsewhere and ends before its next call"
        screen.say(f"{ended.id} {told}")
