"""`planner-executor doctor`: how the database is."""

from typing import Annotated

import typer

from graph.cli import options
from graph.cli.exit_codes import STORAGE, reported
from graph.cli.run_lookup import is_missing, with_runs
from graph.cli.screen import Screen
from graph.errors import LedgerError
from graph.ledger.protocol import RunKey
from graph.ledger.run_store import Health
from graph.record.artifacts import artifacts_named
from graph.record.run_state import run_name
from graph.runs import Runs

Reindex = Annotated[bool, typer.Option("--reindex", help="Make the index of runs anew from the records.")]


def doctor(reindex: Reindex = False, db: options.Database = options.DATABASE) -> None:
    """Examine the database: sizes, growth, whether it is whole, runs whose process died."""
    screen = Screen.here()
    with reported(screen):
        if is_missing(db):
            screen.say(f"there is no database {db} yet")
            return
        if reindex:
            screen.say(f"the index has {with_runs(db, lambda runs: runs.ledger.reindex())} runs")
            return
        health = with_runs(db, lambda runs: runs.ledger.health())
        for line in lines(health):
            screen.say(line)
        broken = with_runs(db, faults)
        for line in broken:
            screen.say(line)
        for name in [] if health.damage else with_runs(db, lambda runs: runs.ledger.misindexed()):
            screen.say(f"run {name}: the index differs from its records; planner-executor doctor --reindex")
        screen.say("restore the file from a backup" if health.damage or broken else "the file is whole")
        if health.damage or broken:
            raise typer.Exit(STORAGE)


def lines(health: Health) -> list[str]:
    """Return what was found in the file, one finding a line."""
    told = [
        f"file {mega(health.file)}, write-ahead log {mega(health.write_ahead_log)}",
        f"runs {health.runs}, {mega(health.per_run)} a run",
    ]
    told += [f"{table}: {rows} rows, {mega(size)}" for table, (rows, size) in health.tables.items()]
    told += [f"run {name}: its process died; `planner-executor resume {name}` goes on with it" for name in health.dead]
    return told + [f"damage: {words}" for words in health.damage]


async def faults(runs: Runs) -> list[str]:
    """Return what is wrong with the records of each run, one fault a line."""
    try:
        found = [(key, await _fault(runs, key)) for key in await runs.ledger.runs()]
    except LedgerError as error:
        return [str(error)]
    return [f"run {run_name(key.thread, key.n)}: {fault}" for key, fault in found if fault is not None]


async def _fault(runs: Runs, key: RunKey) -> str | None:
    try:
        named = artifacts_named(await runs.ledger.events(key))
    except LedgerError:
        return "its records were changed or are damaged"
    for artifact in named:
        try:
            await runs.ledger.artifact(artifact)
        except LedgerError:
            return f"its artifact {artifact[:12]} is lost or was changed"
    return None


def mega(size: int) -> str:
    """Return a size for people.

    >>> mega(2_500_000), mega(120)
    ('2.50 MB', '0.1 kB')
    """
    return f"{size / 1e6:.2f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
