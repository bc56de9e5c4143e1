"""A run with its events: of a file they are read without a ledger, unless something has to be written first."""

import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

from planner_executor.graph.cli.database_file import is_missing
from planner_executor.graph.errors import UnknownRunError
from planner_executor.graph.ledger.address import is_address
from planner_executor.graph.ledger.database_name import shown
from planner_executor.graph.ledger.owner import may_live
from planner_executor.graph.ledger.reading import checked_events
from planner_executor.graph.ledger.seal import SealKey, key_from_environment
from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.reading_connection import read_file
from planner_executor.graph.ledger.tables.run_names import runs_named
from planner_executor.graph.ledger.tables.run_rows import found_of, owner_of, run_id_of
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.runs.run import Run, run_of


class RecordedRun(NamedTuple):
    """A run, its events, and the run state projected from them."""

    run: Run
    events: list[Event]
    record: RunState


def recorded_run(database: str | Path, name: str) -> RecordedRun:
    """Return a run with its events; what is due for its open request is written first.

    Raises:
        UnknownRunError: The run does not exist.
        LedgerError: The database cannot be read.
    """
    if is_missing(database):
        raise UnknownRunError(name, shown(database))
    if not is_address(str(database)):
        read = partial(_read, database=str(database), key=key_from_environment(), name=name)
        if (found := read_file(str(database), Connection, read)) is not None:
            return found
    from planner_executor.graph.cli.run_lookup import recorded_in_ledger  # with all that writes

    return RecordedRun(*recorded_in_ledger(database, name))


def find_run(database: str | Path, name: str) -> Run:
    """Return a run.

    Raises:
        UnknownRunError: The run does not exist.
        LedgerError: The database cannot be read.
    """
    return recorded_run(database, name).run


def _read(db: Connection, database: str, key: SealKey | None, name: str) -> RecordedRun | None:
    """Return a run, None if something is due for it, or if the name is not that of one run, which a ledger explains."""
    named = runs_named(db, name)
    if len(named) != 1:
        return None
    (run,) = named
    run_id = run_id_of(db, database, run)
    events = checked_events(database, key, run, found_of(db, database, run_id, 0), 0)
    record = project(events)
    # Only a ledger writes what is due, so that it has to be opened after all.
    if record.is_due(time.time()):
        return None
    return RecordedRun(run_of(record, may_live(owner_of(db, run_id))), events, record)
