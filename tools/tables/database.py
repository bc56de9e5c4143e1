"""A query over an SQLite file, opened for reading so that nothing is written beside it. Runs in a child process."""

import os
import sqlite3
import stat
from collections.abc import Sequence, Set
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from planner_executor.tools.tables.select import Param, select
from planner_executor.tools.workers.fault import Fault

_MAGIC = b"SQLite format 3\0"
_WAL = 2
_BESIDE = ("", "-wal", "-shm", "-journal")
_HINTS = {
    "SQLITE_READONLY_ROLLBACK": "a transaction is under way, or was broken off; try again when its writer is done",
    "SQLITE_CANTOPEN": "it has a write-ahead log that nobody has open; its owner must open it once",
    "SQLITE_BUSY": "another process is writing to it; try again later",
}

Identity = tuple[int, int]


def query(folder: int, name: str, sql: str, params: Sequence[Param], limit: int, time_s: float) -> dict[str, Any]:
    """Return the rows of a statement.

    Args:
        folder: Handle of the folder that the database is in.
        name: Its name there, neither a link nor a path.
        sql: One statement that reads.
        params: Values for its `?`.
        limit: How many rows at most.
        time_s: The time limit in seconds.

    Raises:
        Fault: It is not a database, cannot be read now, or the statement is refused.
    """
    os.fchdir(folder)
    wanted, held = _identity(name), _open_files()
    try:
        file = f"file:{quote(name)}?{_mode(name)}"
        # Half of the time at most, so that it is left to say that the file is locked.
        wait_s = min(5.0, time_s / 2)
        with closing(sqlite3.connect(file, uri=True, timeout=wait_s, isolation_level=None)) as connection:
            # With the first statement SQLite opens the file and what lies beside it.
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            _check_opened(name, wanted, _open_files() - held)
            return select(connection, sql, params, limit, time_s)
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorname", "")
        raise Fault(f"the database cannot be read: {_HINTS.get(code, error)}") from error
    except OSError as error:
        raise Fault(f"the database cannot be read: {error.strerror}; try again") from error


def _check_opened(name: str, wanted: Identity | None, opened: Set[Identity | None]) -> None:
    """Raise unless the opened file is the one of this name in this folder.

    SQLite takes a path and follows links. A file exchanged for a link in the last moment is noticed here, before
    anything is read for the caller.
    """
    beside = {_identity(name + end) for end in _BESIDE}
    if wanted is None or wanted not in opened or not opened <= beside:
        raise Fault("the database was exchanged while it was being opened; try again")


def _mode(name: str) -> str:
    """Return the options of a URI that keep SQLite from making files: an empty write-ahead log needs no recovery."""
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        header = os.read(handle, 100)
    finally:
        os.close(handle)  # this process holds no lock yet that closing could lose
    if not header.startswith(_MAGIC):
        raise Fault("it is not an SQLite database; read_file or query_csv may read it")
    # Byte 18 says whether the file has a write-ahead log.
    if header[18] == _WAL and not _has_content(f"{name}-wal"):
        return "mode=ro&immutable=1"
    return "mode=ro&readonly_shm=1"


def _has_content(name: str) -> bool:
    try:
        return Path(name).lstat().st_size > 0
    except FileNotFoundError:
        return False


def _identity(name: str) -> Identity | None:
    try:
        found = Path(name).lstat()
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _open_files() -> set[Identity | None]:
    """Return which regular files this process has open."""
    found: set[Identity | None] = set()
    for handle in list(Path("/dev/fd").iterdir()):
        try:
            about = os.fstat(int(handle.name))
        except OSError:  # the handle that listed them
            continue
        if stat.S_ISREG(about.st_mode):
            found.add((about.st_dev, about.st_ino))
    return found
