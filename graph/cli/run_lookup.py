"""Read access to recorded runs, without models, tools or a graph; never creates a database."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from planner_executor.graph.data_class import dataclass
from planner_executor.graph.errors import AgentError, UnknownRunError
from planner_executor.graph.ledger.drivers import shown
from planner_executor.graph.ledger.postgres.address import is_address
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.runs import Run, RunPage, Runs, open_runs

Result = TypeVar("Result")


@dataclass(frozen=True)
class RecordedRun:
    """A run, its events, and the run state projected from them."""

    run: Run
    events: list[Event]
    record: RunState


def is_file(name: str) -> bool:
    """Whether the name of a run or a file is that of a file."""
    try:
        return Path(name).is_file()
    except OSError:  # too long for a file
        return False


def find_run(database: str | Path, name: str) -> Run:
    """Return a run.

    Raises:
        UnknownRunError: The run does not exist.
        LedgerError: The database cannot be read.
    """
    return recorded_run(database, name).run


def recorded_run(database: str | Path, name: str) -> RecordedRun:
    """Return a run with its events.

    Raises:
        UnknownRunError: The run does not exist.
        LedgerError: The database cannot be read.
    """

    async def read(runs: Runs) -> RecordedRun:
        key = await runs.find(name)
        log = await runs.log(key)
        return RecordedRun(log.run, list(log.events), project(log.events))

    return with_run(database, name, read)


def setups_of(database: str | Path, names: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """Return what a facade recorded of each run, see `Run.setup`; nothing of one that cannot be read."""

    async def read(runs: Runs) -> dict[str, Mapping[str, Any]]:
        found: dict[str, Mapping[str, Any]] = {}
        for name in names:
            with suppress(AgentError):
                found[name] = (await runs.show(name)).setup
        return found

    return with_runs(database, read)


def with_run(database: str | Path, name: str, query: Callable[[Runs], Awaitable[Result]]) -> Result:
    """Return the result of a query about one run.

    Raises:
        UnknownRunError: The database does not exist.
    """
    if is_missing(database):
        raise UnknownRunError(name, shown(database))
    return with_runs(database, query)


def page(database: str | Path, wanted: RunFilter) -> RunPage:
    """Return a page of runs, latest first; empty without a database.

    Raises:
        LedgerUnavailableError: The database cannot be read.
    """
    return RunPage(()) if is_missing(database) else with_runs(database, lambda runs: runs.page(wanted))


def with_runs(database: str | Path, query: Callable[[Runs], Awaitable[Result]]) -> Result:
    """Open the database, await the query, and close it."""

    async def opened() -> Result:
        async with open_runs(database) as runs:
            return await query(runs)

    return asyncio.run(opened())


def is_missing(database: str | Path) -> bool:
    """Whether the database is a file that does not exist yet, in a folder that does."""
    file = Path(database)
    return not is_address(str(database)) and not file.exists() and file.absolute().parent.is_dir()
