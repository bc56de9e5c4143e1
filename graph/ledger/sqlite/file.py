"""The database's file: private creation, identity, and advice if it cannot be used."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path

from planner_executor.graph.errors import LedgerUnavailableError
from planner_executor.graph.ledger.sqlite.schema import check_version

RESTORE = "restore the file from a backup"
NAME_A_FILE = "name a file in a folder you can write to"

PAGE_BYTES = 8_192
"""Of SQLite's usual 4 KB, rows that hold a result of a kilobyte leave a fifth empty."""


def create_private(path: Path, database: str | None = None) -> None:
    """Create a database file with mode 0600; SQLite gives its side files the same mode.

    An existing file is not opened: closing it would drop the POSIX locks of this process's connections to it, and
    another process could then remove the write-ahead log while they use it.

    Args:
        path: The file.
        database: Its name in messages; the path by default.

    Raises:
        LedgerUnavailableError: The folder is missing or not writable, or it is a device or the like.
    """
    if path.is_file():
        return
    if path.exists() and not path.is_dir():
        raise LedgerUnavailableError(database or str(path), f"it is no regular file; {NAME_A_FILE}")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise LedgerUnavailableError(database or str(path), f"{error.strerror}; {NAME_A_FILE}") from error


def prepare(path: Path, wait_s: float) -> None:
    """Create a database file if it is missing, and switch it to write-ahead logging.

    Raises:
        LedgerUnavailableError: The folder is missing or not writable, or the ledger's tables are of a newer version.
        sqlite3.Error: The file is not a database, or is locked for longer than `wait_s`.
    """
    create_private(path)
    with closing(sqlite3.connect(path, timeout=wait_s)) as connection:
        check_version(connection, str(path))
        write_ahead(connection, wait_s)


def write_ahead(connection: sqlite3.Connection, wait_s: float) -> None:
    """Switch to write-ahead logging; retries, because SQLite's busy timeout does not cover this statement."""
    give_up = time.monotonic() + wait_s
    while True:
        try:
            if connection.execute("PRAGMA page_count").fetchone() == (0,):  # later they have no effect, but take a lock
                connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
                connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.01)
        else:
            return


def identity(path: str) -> tuple[int, int]:
    """Return the file's device and inode.

    Raises:
        sqlite3.OperationalError: The file does not exist.
    """
    try:
        found = os.stat(path)  # noqa: PTH116  (called before each transaction; Path.stat is slower)
    except OSError as error:
        raise sqlite3.OperationalError(f"the file cannot be found: {error.strerror}") from error
    return found.st_dev, found.st_ino


ADVICE = {
    "locked": "another process holds it, try again when it is done",
    "the file": "put it back and resume the run",
    "unable to open": "give yourself access to the file and its folder",
    "readonly": "give yourself write access to the file and its folder",
    "full": "free some space and resume the run",
    "was changed": RESTORE,
    "malformed": RESTORE,
    "not a database": f"name another file, or {RESTORE}",
    "no such table": RESTORE,
    "no such column": "another application has a table of that name; name another file",
}


@contextmanager
def used(name: str) -> Iterator[None]:
    """Say that a database cannot be used if SQLite fails within the block.

    Raises:
        LedgerUnavailableError: It failed.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise LedgerUnavailableError(name, advice(error)) from error


def advice(error: sqlite3.Error) -> str:
    """Return the database's message with the next step."""
    text = str(error)
    moves = (move for words, move in ADVICE.items() if words in text)
    return "; ".join([text, *islice(moves, 1)])
