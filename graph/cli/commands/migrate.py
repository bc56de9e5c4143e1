"""`planner-executor migrate`: bring an older database to the version of this program."""

import sqlite3
from pathlib import Path
from typing import Annotated

import typer

from graph.cli import options
from graph.cli.exit_codes import reported
from graph.cli.run_lookup import is_missing, with_runs
from graph.cli.screen import Screen
from graph.errors import LedgerUnavailableError
from graph.ledger.sqlite.file import advice
from graph.ledger.sqlite.migration import Migration, forecast
from graph.ledger.sqlite.schema import VERSION

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done; the file is only read.")]


def migrate(dry_run: DryRun = False, db: options.Database = options.DATABASE) -> None:
    """Bring the database to the version of this program; whatever opens it does the same."""
    screen = Screen.here()
    with reported(screen):
        if is_missing(db):
            screen.say(f"there is no database {db} yet")
            return
        ahead = _forecast(db)
        if not ahead.is_needed:
            screen.say(f"there is nothing to migrate in {db}")
            return
        if not dry_run:
            with_runs(db, lambda runs: runs.ledger.runs())
        verb = "would be" if dry_run else "was"
        screen.say(
            f"{db} {verb} migrated from version {ahead.version} to {VERSION}: {_changes(ahead, verb)}, and the file as "
            f"it is ({ahead.size / 1e6:.1f} MB) {verb} copied to {ahead.backup} first"
        )


def _changes(ahead: Migration, verb: str) -> str:
    index = f"the index of {ahead.runs} runs {verb} made, " if ahead.makes_index else ""
    return f"{index}new events may be packed, events on record stay as they are"


def _forecast(db: Path) -> Migration:
    try:
        return forecast(str(db))
    except sqlite3.Error as error:
        raise LedgerUnavailableError(str(db), advice(error)) from error
