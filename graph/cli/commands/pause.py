"""`planner-executor pause`: pause a run that another process executes."""

from planner_executor.graph.cli import options
from planner_executor.graph.cli.command_line import command
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.outcome import headline
from planner_executor.graph.cli.recorded_run import find_run
from planner_executor.graph.cli.run_lookup import with_runs
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.settings.identity import local_user


@on_screen
def pause(screen: Screen, run: options.RunName, db: options.Database = options.DATABASE) -> None:
    """Pause a run that another process executes, before its next call."""
    found = find_run(db, run)
    if found.status != "running":
        screen.say(f"{found.id} is not running; it is {headline(found)}")
        return
    with_runs(db, lambda runs: runs.pause(found.id, str(local_user())))
    again = command("resume", found.id, db, found.setup)
    screen.say(f"{found.id} pauses before its next call; continue with:", whole=again)
