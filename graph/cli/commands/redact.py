"""`planner-executor redact`: take a value out of a run's records."""

import getpass
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from graph.cli import options
from graph.cli.exit_codes import reported
from graph.cli.run_lookup import find_run, with_run
from graph.cli.screen import Screen
from graph.errors import InputError
from graph.ledger.run_store import Redacted
from graph.record.run_state import run_name
from graph.record_service import redacted

Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the record.", callback=options.text)]
ValueFile = Annotated[
    Path | None, typer.Option("--value-file", metavar="FILE", help="A file that holds the value, and nothing else.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask whether to go on.")]


def redact(
    run: options.RunName,
    reason: Reason,
    value_file: ValueFile = None,
    yes: Yes = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Take a value out of all records of a run and its thread; it is asked for, or read from standard input."""
    screen = Screen.here()
    with reported(screen):
        found = find_run(db, run)
        value = _value(screen, value_file)
        if not yes and not _is_wanted(screen, found.thread):
            raise InputError("--yes", "nothing was changed; say --yes where nobody can be asked")
        done = with_run(db, run, lambda runs: redacted(runs, found.id, value, reason))
        for line in lines(done):
            screen.say(line)


def lines(done: Redacted) -> Iterator[str]:
    """Yield what was changed, and where the value still is."""
    for key, events in done.events.items():
        yield f"run {run_name(key.thread, key.n)}: events {', '.join(map(str, events))}"
    yield f"{done.artifacts} artifacts, {done.checkpoints} rows of checkpoints"
    yield from (f"the value is still in {place}" for place in done.remaining)
    yield "the value is nowhere in the file" if not done.remaining else "redact those too, if it has to go"


def _value(screen: Screen, file: Path | None) -> str:
    """Return the value: never from the command line, which others can see and shells remember."""
    try:
        if file is not None:
            return file.read_text(encoding="utf-8").strip("\n")
        return getpass.getpass("the value to take out: ") if screen.interactive else sys.stdin.read().strip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("--value-file", f"{file}: {error}") from error


def _is_wanted(screen: Screen, thread: str) -> bool:
    if not screen.interactive:
        return False
    screen.ask(f"take it out of all runs of thread {thread}, for ever? [y/N] ")
    return input().strip().lower() in ("y", "yes")
