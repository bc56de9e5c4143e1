"""The database's file: made for its owner alone, and what to do when it cannot be used."""

import os
import sqlite3
import time
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


def write_ahead(connection: sqlite3.Connection, wait_s: float) -> None:
    """Let the database write ahead; where several open a new file at once, SQLite itself does not wait for its turn."""
    give_up = time.monotonic() + wait_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.01)
        else:
            return


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
