"""`planner-executor doctor`: how the database is."""

import typer

from graph.cli import options
from graph.cli.exits import STORAGE, reported
from graph.cli.reading import is_missing, latest, with_runs
from graph.cli.screen import Screen
from graph.ledger.protocol import Health


def doctor(db: options.Database = options.DATABASE) -> None:
    """Examine the database: sizes, growth, whether it is whole, runs whose process died."""
    screen = Screen.here()
    with reported(screen):
        if is_missing(db):
            screen.say(f"there is no database {db} yet")
            return
        health = with_runs(db, lambda runs: runs.ledger.health())
        broken = [run for run in latest(db, health.runs)[0] if isinstance(run, str)]
        for line in lines(health, broken):
            screen.say(line)
        if health.damage or broken:
            raise typer.Exit(STORAGE)


def lines(health: Health, broken: list[str]) -> list[str]:
    """Return what was found, one finding a line."""
    told = [
        f"file {mega(health.file)}, write-ahead log {mega(health.write_ahead_log)}",
        f"runs {health.runs}, {mega(health.per_run)} a run",
    ]
    told += [f"{table}: {rows} rows, {mega(size)}" for table, (rows, size) in health.tables.items()]
    told += [f"damage: {words}" for words in health.damage]
    told += [f"run {name}: its records were changed or are damaged" for name in broken]
    told += [f"run {name}: its process died; `planner-executor resume {name}` goes on with it" for name in health.dead]
    return [*told, "the file is whole" if not health.damage and not broken else "restore the file from a backup"]


def mega(size: int) -> str:
    """Return a size for people.

    >>> mega(2_500_000), mega(120)
    ('2.50 MB', '0.1 kB')
    """
    return f"{size / 1e6:.2f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
