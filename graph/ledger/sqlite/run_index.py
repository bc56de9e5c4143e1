"""The index of runs: one row per run, written in the transaction of the events that it follows from."""

import sqlite3
from collections.abc import Iterator, Sequence

from planner_executor.graph.ledger.folded_runs import FoldedRuns, IndexChange, RunFold
from planner_executor.graph.ledger.index_row import COLUMNS, RENEWED, SELECT, changed, read, stored, stored_counts
from planner_executor.graph.ledger.sqlite.history_table import add_samples
from planner_executor.graph.ledger.sqlite.queries import read_rows
from planner_executor.graph.ledger.transcript import events_of
from planner_executor.graph.record.counters import Counts
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.run_state import run_name
from planner_executor.graph.record.summary import RunSummary

_PUT = (
    f"INSERT INTO ledger_index (run, {', '.join(COLUMNS)}) VALUES (?{', ?' * len(COLUMNS)}) "
    f"ON CONFLICT (run) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in COLUMNS)}"
)
_COUNT = "INSERT INTO ledger_counters VALUES (?, ?, ?) ON CONFLICT (name, labels) DO UPDATE SET value = value + ?"


class RunIndex:
    """Keeps the index of one database; used on the thread of its connection, within a transaction."""

    def __init__(self) -> None:
        self.folded = FoldedRuns()

    def add(self, db: sqlite3.Connection, run_id: int, before: bytes, events: Sequence[Event], link: bytes) -> None:
        """Bring a run's row up to date with events that were just written.

        Args:
            db: The connection.
            run_id: The run, as the tables know it.
            before: The hash that the events are chained to.
            events: The events.
            link: The hash of the last of them.
        """
        change, row = self.folded.apply(run_id, before, events, link, lambda: _earlier(db, run_id, events[0].seq))
        if row is None or not _change(db, run_id, row, change.row):
            put(db, run_id, change.row)
        add_counts(db, change.counts)
        add_samples(db, change.samples)

    def forget(self, db: sqlite3.Connection, run_id: int) -> None:
        """Fold a run anew at its next event: earlier events have changed."""
        self.folded.forget(run_id)
        db.execute("DELETE FROM ledger_tags WHERE run = ?", (run_id,))


def put(db: sqlite3.Connection, run_id: int, summary: RunSummary) -> None:
    """Write a run's row, and the rows by which its tags find it."""
    db.execute(_PUT, (run_id, *stored(summary)))
    if summary.tags:
        db.executemany("INSERT OR IGNORE INTO ledger_tags VALUES (?, ?)", [(tag, run_id) for tag in summary.tags])


def _change(db: sqlite3.Connection, run_id: int, before: RunSummary, after: RunSummary) -> bool:
    """Write what changed in a run's row since `before` was written, and return whether that row is there."""
    names = changed(before, after)
    if "tags" in names:
        return False
    columns = ", ".join(f"{name} = ?" for name in names)
    values = (*stored(after, names), run_id)
    return db.execute(f"UPDATE ledger_index SET {columns} WHERE run = ?", values).rowcount > 0


def add_counts(db: sqlite3.Connection, counts: Counts) -> None:
    """Add to the counts over all runs."""
    if counts:
        db.executemany(_COUNT, [(name, labels, count, count) for name, labels, count in stored_counts(counts)])


def rebuild(db: sqlite3.Connection) -> int:
    """Rebuild the whole index from the events, within a transaction, and return the number of runs."""
    for table in ("ledger_index", "ledger_tags", "ledger_counters", "ledger_history"):
        db.execute(f"DELETE FROM {table}")
    counts: Counts = Counts()
    run_ids = [run_id for (run_id,) in db.execute("SELECT id FROM ledger_runs ORDER BY id")]
    for run_id in run_ids:
        whole = folded(db, run_id)
        put(db, run_id, whole.row)
        counts.update(whole.counts)
        add_samples(db, whole.samples)
    add_counts(db, counts)
    db.executemany(_COUNT, db.execute("SELECT name, labels, value, value FROM ledger_carried").fetchall())
    return len(run_ids)


def renew_rows(db: sqlite3.Connection) -> None:
    """Write the rows anew, within a transaction, in which an earlier version had no open request or other counts."""
    places = ", ".join("?" * len(RENEWED))
    counted = f"SELECT run FROM ledger_events WHERE kind IN ({places})"
    query = f"SELECT run FROM ledger_index WHERE waits_for IS NOT NULL OR run IN ({counted})"
    for (run_id,) in db.execute(query, RENEWED).fetchall():
        put(db, run_id, folded(db, run_id).row)


def differences(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the names of runs whose index row does not match their events."""
    for run_id, thread, n in db.execute("SELECT id, thread, n FROM ledger_runs ORDER BY id").fetchall():
        if summary_of(db, run_id) != folded(db, run_id).row or _tags(db, run_id) != _tags_of_row(db, run_id):
            yield run_name(thread, n)


def folded(db: sqlite3.Connection, run_id: int) -> IndexChange:
    """Return what all events of a run bring: the expected index."""
    return RunFold(*_name(db, run_id)).apply(_events(db, run_id))


def summary_of(db: sqlite3.Connection, run_id: int) -> RunSummary | None:
    """Return a run's row, None if it has none."""
    row = db.execute(f"{SELECT} WHERE ledger_index.run = ?", (run_id,)).fetchone()
    return read(row) if row else None


def _earlier(db: sqlite3.Connection, run_id: int, before_seq: int) -> RunFold:
    """Fold the events before that sequence number."""
    fold = RunFold(*_name(db, run_id))
    fold.apply(event for event in _events(db, run_id) if event.seq < before_seq)
    return fold


def _name(db: sqlite3.Connection, run_id: int) -> tuple[str, int]:
    thread, n = db.execute("SELECT thread, n FROM ledger_runs WHERE id = ?", (run_id,)).fetchone()
    return thread, n


def _events(db: sqlite3.Connection, run_id: int) -> Iterator[Event]:
    return events_of(read_rows(db, run_id))


def _tags(db: sqlite3.Connection, run_id: int) -> set[str]:
    return {tag for (tag,) in db.execute("SELECT tag FROM ledger_tags WHERE run = ?", (run_id,))}


def _tags_of_row(db: sqlite3.Connection, run_id: int) -> set[str]:
    found = summary_of(db, run_id)
    return set(found.tags) if found else set()
