"""`planner-executor migrate`: migrate an older database to this version."""

from pathlib import Path
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.database_file import is_missing
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.run_lookup import with_runs
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.ledger.address import is_address
from planner_executor.graph.ledger.database_name import shown
from planner_executor.graph.ledger.sqlite.file import used
from planner_executor.graph.ledger.sqlite.migration import Migration, forecast
from planner_executor.graph.ledger.sqlite.schema import VERSION
from planner_executor.graph.words.name_list import counted


@on_screen
def migrate(
    screen: Screen,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the migration without changing the file.")] = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Migrate the database to this version; any command that opens it does the same."""
    if is_address(db):
        _open(db)
        screen.say(f"{shown(db)} needs no migration")
        return
    if is_missing(db):
        screen.say(f"the database {db} does not exist yet")
        return
    ahead = _forecast(db)
    if not ahead.is_needed:
        screen.say(f"{db} needs no migration")
        return
    if not dry_run:
        _open(db)
    verb = "would be" if dry_run else "was"
    screen.say(
        f"{db} {verb} migrated from version {ahead.version} to {VERSION}: the file ({ahead.size / 1e6:.1f} MB) "
        f"{verb} copied to {ahead.backup} first; {_changes(ahead, verb)}"
    )


def _open(db: str) -> None:
    # Any use of a database brings it to this version; what is asked of it makes no difference.
    with_runs(db, lambda runs: runs.ledger.runs())


def _changes(ahead: Migration, verb: str) -> str:
    index = f"an index of {counted(ahead.runs, 'run')} {verb} built; " if ahead.makes_index else ""
    return f"{index}new events may be packed, existing events stay unchanged"


def _forecast(db: str | Path) -> Migration:
    with used(str(db)):
        return forecast(str(db))
