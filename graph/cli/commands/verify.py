"""`planner-executor verify`: whether a run's record is what was written."""

import json
from pathlib import Path
from typing import Annotated

import typer

from graph.cli import options
from graph.cli.exit_codes import STORAGE, reported
from graph.cli.run_lookup import with_run
from graph.cli.screen import Screen
from graph.cli.verification_text import lines
from graph.ledger.seal import key_from_file
from graph.record_service import verified, verified_file

Head = Annotated[
    str | None,
    typer.Option("--head", metavar="HASH", help="A hash of the run that you noted: the record must hold it."),
]
KeyFile = Annotated[
    Path | None, typer.Option("--key-file", metavar="FILE", help="The key that the run is sealed with.")
]


def verify(
    run: options.RunOrFile,
    head: Head = None,
    key_file: KeyFile = None,
    as_json: options.AsJson = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Recompute the chain of a run's record, or of an exported file, and name the first bad event."""
    screen = Screen.here()
    with reported(screen):
        key = key_from_file(key_file) if key_file is not None else None
        if Path(run).is_file():
            found = verified_file(Path(run), head, key)
        else:
            found = with_run(db, run, lambda runs: verified(runs, run, head, key))
        if as_json:
            screen.show_text(json.dumps(found.to_json(), indent=2))
        for line in () if as_json else lines(found):
            screen.say(line)
        if not found.is_whole:
            raise typer.Exit(STORAGE)
