"""`planner-executor audit`: what happened in a run, as a story."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from graph.cli import options
from graph.cli.exit_codes import reported
from graph.cli.run_lookup import with_run
from graph.cli.screen import Screen
from graph.record_service import audited


class Part(StrEnum):
    """A section of the story."""

    plans = "plans"
    steps = "steps"
    decisions = "decisions"
    policy = "policy"
    budget = "budget"


Only = Annotated[list[Part] | None, typer.Option("--only", help="A section of the story; may be given more than once.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print every event whole, for programs.")]


def audit(
    run: options.RunName, only: Only = None, as_json: AsJson = False, db: options.Database = options.DATABASE
) -> None:
    """Tell what happened in a run: plans, calls, model calls and decisions, in order, by whom and why."""
    screen = Screen.here()
    with reported(screen):
        found = with_run(db, run, lambda runs: audited(runs, run, *(part.value for part in only or ())))
        if as_json:
            screen.show_text(json.dumps(found.to_json(), indent=2))
            return
        for line in found.lines():
            screen.show_text(line)
