"""Reading runs without a model, a tool or a graph; looking makes no database where there is none."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from graph.errors import UnknownRunError
from graph.record.events import Event
from graph.record.projection import project
from graph.record.run_state import RunState
from graph.runs import Run, RunPage, Runs, open_runs

Result = TypeVar("Result")


@dataclass(frozen=True)
class RecordedRun:
    """A run, the events it is read from, and what the nodes read in them."""

    run: Run
    events: list[Event]
    record: RunState


def find_run(database: Path, name: str) -> Run:
    """Return a run.

    Raises:
        UnknownRunError: There is no such run.
        LedgerError: The database cannot be read.
    """
    return recorded_run(database, name).run


def recorded_run(database: Path, name: str) -> RecordedRun:
    """Return a run with its events.

    Raises:
        UnknownRunError: There is no such run.
        LedgerError: The database cannot be read.
    """

    async def look(runs: Runs) -> RecordedRun:
        key = await runs.find(name)
        events = await runs.ledger.events(key)
        return RecordedRun(await runs.show(key), events, project(events))

    return with_run(database, name, look)


def with_run(database: Path, name: str, look: Callable[[Runs], Awaitable[Result]]) -> Result:
    """Open the database that a run is in, look, and close it.

    Raises:
        UnknownRunError: There is no such database.
    """
    if is_missing(database):
        raise UnknownRunError(name, str(database))
    return with_runs(database, look)


def page(database: Path, **wanted: Any) -> RunPage:
    """Return a page of runs, the latest first, empty if there is no database; see `graph.record.run_filter.RunFilter`.

    Raises:
        LedgerUnavailableError: The database cannot be read.
    """
    return RunPage(()) if is_missing(database) else with_runs(database, lambda runs: runs.list(**wanted))


def with_runs(database: Path, look: Callable[[Runs], Awaitable[Result]]) -> Result:
    """Open the database, look, and close it."""

    async def opened() -> Result:
        async with open_runs(database) as runs:
            return await look(runs)

    return asyncio.run(opened())


def is_missing(database: Path) -> bool:
    """Whether there is no such file yet in a folder that there is."""
    return not database.exists() and database.absolute().parent.is_dir()
