"""`planner-executor cancel`: end a run."""

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.exit_codes import ENDED_OTHERWISE, on_screen
from planner_executor.graph.cli.outcome import headline
from planner_executor.graph.cli.recorded_run import find_run
from planner_executor.graph.cli.run_lookup import with_runs
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.settings.identity import local_user


@on_screen
def cancel(screen: Screen, run: options.RunName, db: options.Database = options.DATABASE) -> None:
    """Cancel a run; steps that have finished are not undone."""
    found = find_run(db, run)
    if found.ended:
        screen.say(f"{found.id} had already ended, {headline(found)}")
        raise typer.Exit(0 if found.status == "cancelled" else ENDED_OTHERWISE)
    ended = with_runs(db, lambda runs: runs.cancel(found.id, str(local_user())))
    state = f"is {ended.status}" if ended.ended else "runs in another process and ends before its next call"
    screen.say(f"{ended.id} {state}")
