"""Read access to recorded runs, without models, tools or a graph; never creates a database."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from planner_executor.graph.cli.database_file import is_missing
from planner_executor.graph.errors import AgentError, UnknownRunError
from planner_executor.graph.ledger.database_name import shown
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import Runs, open_runs

Result = TypeVar("Result")


def is_file(name: str) -> bool:
    """Whether the name of a run or a file is that of a file."""
    try:
        return Path(name).is_file()
    except OSError:  # too long for a file
        return False


def recorded_in_ledger(database: str | Path, name: str) -> tuple[Run, list[Event], RunState]:
    """Return a run, its events and its state; see `graph.cli.recorded_run.recorded_run`."""

    async def read(runs: Runs) -> tuple[Run, list[Event], RunState]:
        log = await runs.log(await runs.find(name))
        return log.run, list(log.events), project(log.events)

    return with_runs(database, read)


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


def with_runs(database: str | Path, query: Callable[[Runs], Awaitable[Result]]) -> Result:
    """Open the database, await the query, and close it."""

    async def opened() -> Result:
        async with open_runs(database) as runs:
            return await query(runs)

    return asyncio.run(opened())
