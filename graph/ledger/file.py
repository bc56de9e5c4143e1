"""The database's file: made for its owner alone, and what to do when it cannot be used."""

import os
import sqlite3
from pathlib import Path

from graph.errors import LedgerUnavailableError


def create_private(path: Path) -> None:
    """Create a database file that only its owner can read; SQLite gives its side files the same mode.

    A file that is there is not touched: closing it would drop the locks that this process's connections hold on it,
    and another process would take the write-ahead log away from under them.

    Raises:
        LedgerUnavailableError: The folder is missing or not writable.
    """
    if path.is_file():
        return
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise LedgerUnavailableError(
            str(path), f"{error.strerror}; name a file in a folder you can write to"
        ) from error


def advice(error: sqlite3.Error) -> str:
    """Return what the database says, with the next move."""
    text = str(error)
    if "locked" in text:
        return f"{text}; another process holds it, try again when it is done"
    if "readonly" in text:
        return f"{text}; give yourself write access to the file and its folder"
    if "full" in text:
        return f"{text}; free some space and resume the run"
    return text
