"""`planner-executor resume`: continue a run, and decide its review request."""

from functools import partial
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.decision_options import DecisionOptions
from planner_executor.graph.cli.decision_source import DecisionSource
from planner_executor.graph.cli.exit_codes import exit_code, on_screen
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.recorded_run import find_run
from planner_executor.graph.cli.resumed_setup import opened_setup
from planner_executor.graph.cli.run_driver import continue_run
from planner_executor.graph.cli.run_options import RunOptions
from planner_executor.graph.cli.screen import Screen

OwnSettings = Annotated[
    bool,
    typer.Option("--own-settings", help="Use only the current settings, ignore the recorded ones."),
]
TakeOver = Annotated[
    bool,
    typer.Option(
        "--take-over",
        help="Go on under the terms here in place of those on record, as does an option that names a term.",
    ),
]


@on_screen
@with_option_groups
def resume(
    screen: Screen,
    run: options.RunName,
    decision: DecisionOptions,
    given: RunOptions,
    own_settings: OwnSettings = False,
    take_over: TakeOver = False,
    json: options.Json = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Continue a run that waits, was paused or was killed.

    Folders and models are those that the run recorded; differences to the current settings are shown. The current
    policy always applies, and so do the terms that the run was begun under: stricter ones hold, under other ones it is
    left. An option that names another model, folder or policy asks to take the run over, as --take-over does; the
    approvers on record decide about that.
    """
    decisions = DecisionSource(screen, db, decision.yes, decision.response(), decision.digest, given.by)
    found = find_run(db, run)

    opened = partial(opened_setup, screen, found, given.settings, own_settings)

    takes_over = take_over or given.takes_over
    raise typer.Exit(exit_code(continue_run(decisions, found, opened, json, takes_over).status))
