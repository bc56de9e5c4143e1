"""Waiting for a locked file: long enough for ordinary traffic, and once for all who want to write."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from planner_executor.graph.ledger.sqlite.busy_timeout import BUSY_S, BusyTimeout, busy_timeout_with


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Return a connection to a file that another one keeps locked, and that waits for nothing."""
    path = tmp_path / "runs.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("CREATE TABLE t (n)")
        other.execute("BEGIN IMMEDIATE")
        with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:
            yield connection


def test_what_was_waited_for_in_vain_is_not_waited_for_again_and_comes_back_with_time(
    locked: sqlite3.Connection,
) -> None:
    clock = Clock()
    patience = BusyTimeout(clock)
    assert patience.left_s == BUSY_S

    with pytest.raises(sqlite3.OperationalError), patience.tried():
        locked.execute("BEGIN IMMEDIATE")

    left = []
    for later_s in (0, 2, 1, 100):
        clock.now_s += later_s
        left.append(patience.left_s)
    assert left == [0, 2, 3, BUSY_S]
    assert patience.pragma == "PRAGMA busy_timeout=5000"


def test_a_lock_that_somebody_gets_is_waited_for_again(locked: sqlite3.Connection) -> None:
    patience = BusyTimeout(Clock())
    with pytest.raises(sqlite3.OperationalError), patience.tried():
        locked.execute("BEGIN IMMEDIATE")

    with patience.tried():
        locked.execute("SELECT 1")
    assert patience.left_s == BUSY_S


def test_another_trouble_than_a_lock_uses_nothing_up(locked: sqlite3.Connection) -> None:
    patience = BusyTimeout(Clock())

    with pytest.raises(sqlite3.OperationalError), patience.tried():
        locked.execute("SELECT * FROM nowhere")

    assert patience.left_s == BUSY_S


def test_all_who_write_to_a_file_share_their_patience() -> None:
    assert busy_timeout_with("a.db") is busy_timeout_with("a.db")
    assert busy_timeout_with("a.db") is not busy_timeout_with("b.db")
