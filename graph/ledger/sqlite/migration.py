"""An older database brought to this version: a backup beside it, then one transaction."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from planner_executor.graph.errors import LedgerUnavailableError
from planner_executor.graph.ledger.lease import LEASE_S, LOOK_S
from planner_executor.graph.ledger.owner import is_gone
from planner_executor.graph.ledger.sqlite.backup import copy_to
from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.file import NAME_A_FILE
from planner_executor.graph.ledger.sqlite.schema import VERSION, check_version, version_of
from planner_executor.graph.ledger.tables.migration import bring_on
from planner_executor.graph.ledger.tables.run_index import rebuild, renew_rows
from planner_executor.graph.ledger.tables.schema import INDEX, create, set_version
from planner_executor.graph.record.run_key import run_name


class Migration(NamedTuple):
    """What a migration does or would do; `size` is the file's in bytes, `backup` the path of the copy made first."""

    version: int
    runs: int
    size: int
    backup: str

    @property
    def is_needed(self) -> bool:
        """Whether the database is of an older version."""
        return 0 < self.version < VERSION

    @property
    def makes_index(self) -> bool:
        """Whether the index of runs is made, which version 1 had not."""
        return self.version == 1


def forecast(database: str) -> Migration:
    """Return the changes of a migration without making them; the file is only read.

    Raises:
        LedgerUnavailableError: It is newer than this program, or a folder.
        sqlite3.Error: It cannot be read.
    """
    if Path(database).is_dir():  # SQLite would call it an I/O error of the disk
        raise LedgerUnavailableError(database, f"Is a directory; {NAME_A_FILE}")
    with closing(sqlite3.connect(f"{Path(database).absolute().as_uri()}?mode=ro", uri=True)) as db:
        return _about(db, database)


def _looks() -> Iterator[None]:
    """Yield now and then for as long as an owner may be silent that is alive."""
    until = time.monotonic() + LEASE_S
    while time.monotonic() < until:
        time.sleep(LOOK_S)
        yield


def bring_up(db: Connection, database: str, looks: Callable[[], Iterator[None]] = _looks) -> Migration | None:
    """Make the tables of a new database, or migrate an older one; return None if nothing was migrated.

    Args:
        db: A connection to it.
        database: The file.
        looks: When to look whether the owner of a run is alive.

    Raises:
        LedgerUnavailableError: A process of the older version works on a run.
        sqlite3.Error: It could not be done; the database is as it was.
    """
    if version_of(db) == VERSION:
        return None
    _refuse_while_owned(db, database, looks)
    # One transaction: whoever is killed in it leaves the older version, whole.
    db.execute("BEGIN IMMEDIATE")
    try:
        done = _migrated(db, database)
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    return done


def _migrated(db: Connection, database: str) -> Migration | None:
    about = _about(db, database)  # another process may have been faster
    if about.version == 0:
        create(db)
        set_version(db, VERSION)
    if not about.is_needed:
        return None
    _back_up(database, about.backup)
    if about.makes_index:
        db.script(INDEX)
    bring_on(db, database)
    (rebuild if about.makes_index else renew_rows)(db)
    set_version(db, VERSION)
    return about


def _about(db: sqlite3.Connection, database: str) -> Migration:
    version = check_version(db, database)
    runs = int(db.execute("SELECT count(*) FROM ledger_runs").fetchone()[0]) if version else 0
    size = os.path.getsize(database) if os.path.exists(database) else 0  # noqa: PTH110, PTH202  (":memory:" is no path)
    return Migration(version, runs, size, f"{database}.version-{version}")


def _back_up(database: str, backup: str) -> None:
    """Copy the database to a file that only its owner can read."""
    try:
        copy_to(database, backup)
    except OSError as error:
        why = f"a backup cannot be written to {backup}: {error.strerror}; make room or migrate a copy"
        raise LedgerUnavailableError(database, why) from error


def _refuse_while_owned(db: sqlite3.Connection, database: str, looks: Callable[[], Iterator[None]]) -> None:
    """Refuse while a run has a live owner; one whose heartbeat does not move is dead."""
    if not version_of(db) or not (first := _owners(db)):
        return
    for _ in looks():
        now = _owners(db)
        if busy := [run for run in now if first.get(run) not in (None, now[run])]:
            why = f"run {busy[0]} is being worked on by an older release; pause it or let it end, then try again"
            raise LedgerUnavailableError(database, why)
        if not now:
            return


def _owners(db: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    query = (
        "SELECT thread, n, owner, token, beat FROM ledger_leases JOIN ledger_runs ON ledger_runs.id = run "
        "WHERE owner != ''"
    )
    return {
        run_name(thread, n): (token, beat) for thread, n, owner, token, beat in db.execute(query) if not is_gone(owner)
    }
