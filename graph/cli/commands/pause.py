"""`planner-executor pause`: ask a run that executes elsewhere to stop before its next call."""

from graph.cli import options
from graph.cli.command_line import command
from graph.cli.exit_codes import reported
from graph.cli.outcome import headline
from graph.cli.run_lookup import find_run, with_runs
from graph.cli.screen import Screen


def pause(run: options.RunName, db: options.Database = options.DATABASE) -> None:
    """Ask a run that executes elsewhere to stop before its next call."""
    screen = Screen.here()
    with reported(screen):
        found = find_run(db, run)
        if found.status != "running":
            screen.say(f"{found.id} does not execute now; it is {headline(found)}")
            return
        with_runs(db, lambda runs: runs.pause(found.id))
        screen.say(f"{found.id} stops before its next call; go on with: {command('resume', found.id, db)}")
