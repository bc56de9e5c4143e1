"""`planner-executor retry`: reopen a run that ended, and try again what failed."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.budget_options import parse_limits
from planner_executor.graph.cli.commands.resume import OwnSettings, TakeOver
from planner_executor.graph.cli.decision_source import DecisionSource
from planner_executor.graph.cli.exit_codes import exit_code, on_screen
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.plan_file import read_plan_file
from planner_executor.graph.cli.recorded_run import find_run
from planner_executor.graph.cli.resumed_setup import opened_setup
from planner_executor.graph.cli.run_driver import retry_run
from planner_executor.graph.cli.run_options import RunOptions
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import InputError


@on_screen
@with_option_groups
def retry(
    screen: Screen,
    run: options.RunName,
    *,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit", metavar="NAME=VALUE", help="A new limit of the budget; keeps the approval. Repeatable."
        ),
    ] = None,
    edit: Annotated[
        Path | None,
        typer.Option(
            "--edit", parser=options.path_of, metavar="FILE", help="Review the plan in this JSON file for what is left."
        ),
    ] = None,
    feedback: Annotated[
        str | None,
        typer.Option(
            "--feedback", metavar="TEXT", help="Replan what is left with this feedback.", callback=options.text
        ),
    ] = None,
    given: RunOptions,
    own_settings: OwnSettings = False,
    take_over: TakeOver = False,
    yes: options.Yes = False,
    json: options.Json = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Try again what failed in a run that ended; what succeeded stays.

    The run goes on under its approval. Another plan, feedback, or other tools and settings are reviewed first. A run
    that succeeded or was rejected is final.
    """
    if edit is not None and feedback is not None:
        raise InputError("--feedback", "--edit and --feedback cannot be combined; give one of them")
    changes = {
        "limits": parse_limits("--limit", limit or []),
        "feedback": feedback,
        "plan": read_plan_file("--edit", edit) if edit is not None else None,
        "take_over": take_over or given.takes_over,
    }
    found = find_run(db, run)
    if not found.ended:
        raise InputError("run", f"{found.id} has not ended; continue it with resume")

    opened = partial(opened_setup, screen, found, given.settings, own_settings)

    decisions = DecisionSource(screen, db, yes, by=given.by)
    raise typer.Exit(exit_code(retry_run(decisions, found, opened, json, **changes).status))
