"""`planner-executor audit`: the history of a run."""

from enum import StrEnum
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.run_lookup import with_run
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.runs.record_service import audited

GOES_ON = 18
"""Column in which a line that is too long goes on: further in than the details of an event."""


class Part(StrEnum):
    """A section of the history."""

    plans = "plans"
    steps = "steps"
    decisions = "decisions"
    policy = "policy"
    budget = "budget"


@on_screen
def audit(
    screen: Screen,
    run: options.RunName,
    only: Annotated[
        list[Part] | None,
        typer.Option("--only", metavar="SECTION", help=f"Only this section: {', '.join(Part)}; may be repeated."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all events in full, as JSON.")] = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Print the history of a run: plans, calls, model calls and decisions, with author and reason."""
    found = with_run(db, run, lambda runs: audited(runs, run, *(part.value for part in only or ())))
    if as_json:
        screen.show_json(found.to_json())
        return
    for line in found.lines():
        screen.show_text(line, under=GOES_ON)
