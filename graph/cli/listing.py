"""`planner-executor runs`: the runs of a database."""

import time
from typing import Annotated

import typer
from rich.table import Table

from graph.cli import options
from graph.cli.exits import reported
from graph.cli.reading import latest
from graph.cli.screen import Screen, cell
from graph.runs import Run

GOAL_CHARACTERS = 100

Last = Annotated[int, typer.Option("--last", min=1, metavar="N", help="How many runs to list.")]


def runs(last: Last = 20, db: options.Database = options.DATABASE) -> None:
    """List the runs, the latest first."""
    screen = Screen.here()
    with reported(screen):
        found, more = latest(db, last)
        if not found:
            screen.say(f"no runs in {db} yet; start one with: planner-executor run GOAL")
            return
        screen.show(table_of(found))
        if more:
            screen.say(f"and {more} more; --last {last + more} lists all")


def table_of(found: list[Run | str]) -> Table:
    """Return a row for each run; one whose records are damaged is known by its name only."""
    table = Table("run", "status", "steps", "changed", "goal", box=None, pad_edge=False, header_style="bold")
    table.columns[-1].no_wrap = True
    for run in found:
        if isinstance(run, str):
            table.add_row(cell(run), cell("damaged", "red"), cell("?"), cell("?"), cell("its records were changed"))
            continue
        statuses = list(run.step_status.values())
        done = f"{statuses.count('succeeded')}/{len(statuses)}" if run.plan else "-"
        changed = local_time(run.updated_at, "%H:%M")
        table.add_row(cell(run.id), cell(run.status), cell(done), cell(changed), cell(run.goal, most=GOAL_CHARACTERS))
    return table


def local_time(at: float, clock: str = "%H:%M:%S") -> str:
    """Return Unix seconds as local date and time."""
    return time.strftime(f"%Y-%m-%d {clock}", time.localtime(at))
