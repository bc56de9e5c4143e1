"""A consistent copy of a database file, made while others write to it."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from graph.errors import InputError, LedgerUnavailableError


def copy_to(database: str, target: str) -> None:
    """Copy a database, as one moment has it, to a file that only its owner can read; the file is replaced.

    SQLite's backup goes through a read transaction: writers do not wait, and what they write meanwhile is not in it.

    Raises:
        OSError: The target cannot be written; it is as it was.
        sqlite3.Error: The database cannot be read; the target is as it was.
    """
    part = f"{target}.part"
    os.close(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600))
    try:
        with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(part)) as copy:
            source.backup(copy)
        _sync(part)
        Path(part).replace(target)
        _sync(str(Path(target).absolute().parent))
    finally:
        Path(part).unlink(missing_ok=True)


def back_up(database: str, target: Path) -> None:
    """Copy a database to a new file, and check the copy.

    Raises:
        InputError: The target is there already, or cannot be written.
        LedgerUnavailableError: The copy is damaged, as the database is.
        sqlite3.Error: The database cannot be read.
    """
    whole = target.with_name(f"{target.name}.checking")
    if target.exists():
        raise InputError("file", f"{target} is there already; name a new file")
    try:
        copy_to(database, str(whole))
        try:
            _check(database, whole)
            os.link(whole, target)  # unlike a renaming, it replaces no file
            _sync(str(target.absolute().parent))
        finally:
            whole.unlink(missing_ok=True)
    except FileExistsError:
        raise InputError("file", f"{target} is there already; name a new file") from None
    except OSError as error:
        raise InputError("file", f"{target}: {error.strerror or error}") from error


def _check(database: str, copy: Path) -> None:
    with closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        faults = [str(row[0]) for row in db.execute("PRAGMA quick_check")]
    if faults != ["ok"]:
        raise LedgerUnavailableError(database, f"it is damaged, so no backup was made: {faults[0]}")


def _sync(path: str) -> None:
    """Wait until a file, or the list of a folder, is on disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
