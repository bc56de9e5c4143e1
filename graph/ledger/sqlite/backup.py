"""A consistent copy of a database file, made while others write to it."""

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from planner_executor.graph.errors import InputError, LedgerUnavailableError
from planner_executor.graph.ledger.disk import sync
from planner_executor.graph.ledger.sqlite.file import NAME_A_FILE

NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
"""Errors of a file system without hard links, such as those of memory sticks and some network shares."""


def copy_to(database: str, target: str) -> None:
    """Copy a database, as one moment has it, to a file that only its owner can read; the file is replaced.

    SQLite's backup goes through a read transaction: writers do not wait, and what they write meanwhile is not in it.

    Raises:
        OSError: The target cannot be written; it is as it was.
        sqlite3.Error: The database cannot be read; the target is as it was.
    """
    part = f"{target}.part"
    # Made before SQLite opens it, which would let the process's mask decide who may read it.
    os.close(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600))
    try:
        with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(part)) as copy:
            source.backup(copy)
        sync(Path(part))
        Path(part).replace(target)
        # A name is on disk only once its folder is.
        sync(Path(target).absolute().parent)
    finally:
        Path(part).unlink(missing_ok=True)


def back_up(database: str, target: Path) -> None:
    """Copy a database to a new file, and check the copy.

    Raises:
        InputError: The target is there already, or cannot be written.
        LedgerUnavailableError: The copy is damaged, as the database is.
        sqlite3.Error: The database cannot be read.
    """
    if target.exists():  # so are `.` and `/`, which have no name
        raise InputError("file", f"{target} is there already; name a new file")
    whole = target.with_name(f"{target.name}.checking")
    try:
        copy_to(database, str(whole))
        try:
            _check(database, whole)
            _name(whole, target)
            sync(target.absolute().parent)
        finally:
            whole.unlink(missing_ok=True)
    except FileExistsError:
        raise InputError("file", f"{target} is there already; name a new file") from None
    except OSError as error:
        raise InputError("file", f"{target}: {error.strerror or error}; {NAME_A_FILE}") from error
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_FULL:
            raise
        raise InputError("file", f"{target}: the disk is full; name a file on another one") from error


def _name(whole: Path, target: Path) -> None:
    """Give a file its name, unless another one has it: a link replaces no file, as a renaming would."""
    try:
        os.link(whole, target)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        # Only one can make a new file, so the name is taken before it is replaced.
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        whole.replace(target)


def _check(database: str, copy: Path) -> None:
    # Immutable, or SQLite would lay a log and an index beside the copy to read it.
    with closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        faults = [str(row[0]) for row in db.execute("PRAGMA quick_check")]
    if faults != ["ok"]:
        raise LedgerUnavailableError(database, f"it is damaged, so no backup was made: {faults[0]}")
