"""`planner-executor fork`: start a run with copies of another one's results."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.commands.resume import OwnSettings, TakeOver
from planner_executor.graph.cli.decision_source import DecisionSource
from planner_executor.graph.cli.exit_codes import exit_code, on_screen
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.recorded_run import find_run
from planner_executor.graph.cli.resumed_setup import opened_setup
from planner_executor.graph.cli.run_driver import fork_run
from planner_executor.graph.cli.run_options import RunOptions
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.depth import parse_json_or_text


@on_screen
@with_option_groups
def fork(
    screen: Screen,
    run: options.RunName,
    *,
    step: Annotated[
        str, typer.Option("--from", metavar="STEP", help="The step from which on everything is done anew.")
    ],
    given: RunOptions,
    own_settings: OwnSettings = False,
    take_over: TakeOver = False,
    yes: options.Yes = False,
    json: options.Json = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Start a run that keeps another one's results as far as they do not depend on a step.

    The fork inherits no approval. A mail, or any other call that may not be repeated, is shown by itself before it is
    made again. `--set STEP=JSON` sets the result of a step, which is then not executed; what has a dot
    before the `=` is a setting of a model.
    """
    values, models = split_sets(given.set_ or [])
    given = replace(given, set_=models)
    found = find_run(db, run)

    opened = partial(opened_setup, screen, found, given.settings, own_settings)

    decisions = DecisionSource(screen, db, yes, by=given.by)
    how = {"values": values, "take_over": take_over or given.takes_over}
    raise typer.Exit(exit_code(fork_run(decisions, found, opened, json, step, **how).status))


def split_sets(entries: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the results that `--set STEP=JSON` gives, by step id, and the entries that are settings of models.

    A setting's name has a dot (`planner.temperature`), and a step's id has none.

    Raises:
        InputError: An entry is not STEP=JSON, or a step is set twice.
    """
    values: dict[str, Any] = {}
    settings = []
    for entry in entries:
        name, equals, value = entry.partition("=")
        # The same option sets both: ids of steps have no dot, and settings have one.
        if "." in name:
            settings.append(entry)
            continue
        if not equals or not name:
            raise InputError("--set", f"{entry!r} is not STEP=JSON; give the step and its result")
        if name in values:
            raise InputError("--set", f"{name} is set twice; give one result per step")
        values[name] = parse_json_or_text(value)
    return values, settings
