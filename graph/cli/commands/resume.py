"""`planner-executor resume`: go on with a run, and decide what it asks."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from graph.cli import options
from graph.cli.decision_options import DecisionOptions
from graph.cli.decision_source import DecisionSource
from graph.cli.exit_codes import exit_code, reported
from graph.cli.option_groups import with_option_groups
from graph.cli.resumed_setup import setup_to_resume
from graph.cli.run_driver import go_on
from graph.cli.run_lookup import find_run
from graph.cli.run_options import RunOptions
from graph.cli.screen import Screen

OwnSettings = Annotated[
    bool,
    typer.Option("--own-settings", help="Use the settings here and these options, nothing that the run remembers."),
]


@with_option_groups
def resume(
    run: options.RunName,
    decision: DecisionOptions,
    given: RunOptions,
    own_settings: OwnSettings = False,
    json: options.Json = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Go on with a run that waits, was paused or was killed.

    Folders and models are those it was started with, unless options name others; what differs from here is shown. The
    policy here always holds.
    """
    screen = Screen.beside_json() if json else Screen.here()
    with reported(screen):
        given.check()
        deciding = DecisionSource(screen, db, decision.yes, decision.response(), decision.digest)
        found = find_run(db, run)
        settings = given.settings

        @contextmanager
        def opened() -> Iterator[Mapping[str, Any]]:
            with setup_to_resume(screen, found, settings, own_settings).opened() as built:
                yield built

        raise typer.Exit(exit_code(go_on(screen, db, deciding, found, opened, json)))
