"""`planner-executor verify`: verify the integrity of a run's record."""

from pathlib import Path
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.exit_codes import STORAGE, on_screen
from planner_executor.graph.cli.run_lookup import is_file, with_run
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.cli.verification_text import lines, tombstone_lines
from planner_executor.graph.errors import PrunedRunError
from planner_executor.graph.ledger.seal import SealKey, key_from_file
from planner_executor.graph.runs.record_service import verified, verified_file
from planner_executor.graph.runs.retention import missing


@on_screen
def verify(
    screen: Screen,
    run: options.RunOrFile,
    head: Annotated[
        str | None,
        typer.Option("--head", metavar="HASH", help="A hash noted earlier, which the record must contain."),
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option("--key-file", parser=options.path_of, metavar="FILE", help="The key of the run's seal."),
    ] = None,
    as_json: options.AsJson = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Recompute the hash chain of a run or an exported file, and name the first broken event."""
    key = key_from_file(key_file) if key_file is not None else None
    if is_file(run):
        found = verified_file(Path(run), head, key)
    else:
        try:
            found = with_run(db, run, lambda runs: verified(runs, run, head, key))
        except PrunedRunError as removed:
            _show_tombstone(screen, db, run, key, removed)
            return
    if as_json:
        screen.show_json(found.to_json())
    screen.say_each(() if as_json else lines(found))
    if not found.is_whole:
        raise typer.Exit(STORAGE)


def _show_tombstone(screen: Screen, db: str, run: str, key: SealKey | None, removed: PrunedRunError) -> None:
    """Show what remains of a run that was pruned, and check the chain of tombstones."""
    found, faults = with_run(db, run, lambda runs: missing(runs.ledger, key))
    screen.say(str(removed))
    screen.say_each(tombstone_lines(found, run))
    for fault in faults:
        screen.say(f"fault: {fault}")
    screen.say("the tombstones were CHANGED or damaged" if faults else "the tombstones are unchanged")
    if faults:
        raise typer.Exit(STORAGE)
