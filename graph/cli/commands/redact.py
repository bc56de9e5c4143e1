"""`planner-executor redact`: remove a value from a run's records."""

import getpass
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.prompts import is_confirmed
from planner_executor.graph.cli.recorded_run import find_run
from planner_executor.graph.cli.run_lookup import with_run
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import InputError
from planner_executor.graph.errors.file_faults import file_faults
from planner_executor.graph.ledger.run_store import Redacted
from planner_executor.graph.record.run_key import run_name
from planner_executor.graph.runs.record_service import redacted
from planner_executor.graph.words.name_list import counted


@on_screen
def redact(
    screen: Screen,
    run: options.RunName,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="The reason, which is recorded.", callback=options.text)
    ],
    value_file: Annotated[
        Path | None,
        typer.Option(
            "--value-file", parser=options.path_of, metavar="FILE", help="A file that contains only the value."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Remove a value, prompted for or read from standard input, from all records of a run and its thread."""
    found = find_run(db, run)
    value = _value(screen, value_file)
    question = f"Remove it permanently from all runs of thread {found.thread}?"
    # Without a terminal, standard input is the value and cannot answer a question too.
    if not yes and not (screen.interactive and is_confirmed(screen, question)):
        raise InputError(
            "--yes", "the redaction was not confirmed and nothing was changed; without a terminal, give --yes"
        )
    done = with_run(db, run, lambda runs: redacted(runs, found.id, value, reason))
    screen.say_each(lines(done))


def lines(done: Redacted) -> Iterator[str]:
    """Yield the changes, and the places that still contain the value."""
    for key, events in done.events.items():
        yield f"run {run_name(key.thread, key.n)}: events {', '.join(map(str, events))}"
    rest = [(done.artifacts, "artifact"), (done.checkpoints, "checkpoint row"), (done.approvals, "standing approval")]
    yield ", ".join(counted(number, thing) for number, thing in rest)
    yield from (f"the value remains in {place}" for place in done.remaining)
    yield "the value is no longer in the file" if not done.remaining else "redact those as well to remove it"


def _value(screen: Screen, file: Path | None) -> str:
    """Read the value; not from the command line, which other users and the shell history could see."""
    with file_faults("--value-file", file or "standard input"):
        if file is not None:
            return file.read_text(encoding="utf-8").strip("\n")
        return getpass.getpass("value to redact: ") if screen.interactive else sys.stdin.read().strip("\n")
