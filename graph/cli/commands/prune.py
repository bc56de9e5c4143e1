"""`planner-executor prune`: remove threads that are no longer needed."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.command_line import command
from planner_executor.graph.cli.database_file import check_exists
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.moment import moment
from planner_executor.graph.cli.run_lookup import setups_of, with_runs
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import InputError
from planner_executor.graph.policy.retention import Retention
from planner_executor.graph.record.run_status import ENDS
from planner_executor.graph.runs.retention import Pruned
from planner_executor.graph.runs.retention import prune as prune_threads
from planner_executor.graph.settings.identity import local_user
from planner_executor.graph.text.retention import kept_lines, removed_line
from planner_executor.graph.words.name_list import right_name


@on_screen
def prune(
    screen: Screen,
    older_than: Annotated[
        str,
        typer.Option("--older-than", metavar="WHEN", help="Only threads unchanged since: 90d, 12w, or 2026-11-01."),
    ],
    status: Annotated[
        list[str] | None,
        typer.Option(
            "--status",
            metavar="STATUS",
            help=f"Only threads whose runs all ended with this status: {', '.join(ENDS)}; may be repeated.",
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            parser=options.path_of,
            metavar="DIR",
            help="Export each run to this folder before it is removed.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be removed.")] = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Remove whole threads with runs, artifacts and checkpoints; a tombstone without words remains of each."""
    wanted = Retention(moment(older_than, time.time(), "--older-than"), _ends(status or ()))
    check_exists(db)
    done = with_runs(
        db, lambda runs: prune_threads(runs.ledger, wanted, str(local_user()), export=export, dry_run=dry_run)
    )
    screen.say_each(lines(done, dry_run, db))


def lines(done: Pruned, dry_run: bool, db: str) -> list[str]:
    """Return what was removed, what stays and why, and whether the space was given back."""
    setups = setups_of(db, (one.run for one in done.kept))
    kept = kept_lines(done.kept, lambda name, run: command(name, run, db, setups.get(run, {})))
    found = [removed_line(len(done.threads), done.runs, dry_run), *kept]
    later = "the freed space is used again; to make the file smaller, prune again while no run is executing"
    return found if done.is_smaller else [*found, later]


def _ends(given: Sequence[str]) -> frozenset[str]:
    if strange := [status for status in given if status not in ENDS]:
        raise InputError("--status", f"{strange[0]} is no status of an ended run; {right_name(strange[0], ENDS)}")
    return frozenset(given)
