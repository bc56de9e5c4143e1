"""`planner-executor verify`: whether a run's record is what was written."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from graph.cli import options
from graph.cli.commands.listing import local_time
from graph.cli.exits import STORAGE, reported
from graph.cli.reading import with_run
from graph.cli.screen import Screen
from graph.ledger.seal import key_from_file
from graph.ledger.verification import Verification
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


def lines(found: Verification) -> Iterator[str]:
    """Yield what was found."""
    yield f"run {found.run}: {found.events} events, {found.artifacts} artifacts"
    yield f"head {found.head}"
    yield _sealed(found)
    if found.noted_seq is not None:
        later = found.events - found.noted_seq
        yield f"the hash that was noted is of event {found.noted_seq}; {later or 'none'} came after it"
    for redaction in found.redactions:
        events = ", ".join(map(str, redaction.events))
        yield f"redacted: events {events} by {redaction.by} at {local_time(redaction.at)}: {redaction.reason}"
    yield from (f"fault: {fault}" for fault in found.faults)
    yield "the record is what was written" if found.is_whole else "the record is NOT what was written"


def _sealed(found: Verification) -> str:
    return {
        "none": "not sealed: without a key nobody can tell whether all of it was written anew, or its end cut off",
        "unchecked": f"sealed with the key {found.key}, which is not at hand: the seal was not checked",
        "whole": f"sealed with the key {found.key}",
        "broken": f"the seal of the key {found.key} does not fit",
    }[found.seal]
