"""The index of runs: one row per run, written in the transaction of the events that it follows from."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from graph.ledger.folded_runs import FoldedRun, FoldedRuns
from graph.ledger.index_row import COLUMNS, SELECT, changed, read, stored
from graph.ledger.sqlite.history_table import add_samples
from graph.ledger.sqlite.queries import read_rows
from graph.ledger.transcript import event_of
from graph.record.counters import Counts, RunCounter
from graph.record.events import Event
from graph.record.run_state import run_name
from graph.record.step_history import samples_of
from graph.record.summary import RunSummary, Summarizer

_PUT = (
    f"INSERT INTO ledger_index (run, {', '.join(COLUMNS)}) VALUES (?{', ?' * len(COLUMNS)}) "
    f"ON CONFLICT (run) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in COLUMNS)}"
)
_COUNT = "INSERT INTO ledger_counters VALUES (?, ?, ?) ON CONFLICT (name, labels) DO UPDATE SET value = value + ?"


class RunIndex:
    """Keeps the index of one database; used on the thread of its connection, within a transaction."""

    def __init__(self) -> None:
        self._folded = FoldedRuns()

    def add(self, db: sqlite3.Connection, run_id: int, before: bytes, events: Sequence[Event], link: bytes) -> None:
        """Bring a run's row up to date with events that were just written.

        Args:
            db: The connection.
            run_id: The run, as the tables know it.
            before: The hash that the events are chained to.
            events: The events.
            link: The hash of the last of them.
        """
        folded = self._folded.take(run_id, before) or _folded(db, run_id, events[0].seq)
        summary = folded.summarizer.apply(events).summary
        if folded.row is None or not _change(db, run_id, folded.row, summary):
            put(db, run_id, summary)
        add_counts(db, folded.counter.count(events))
        add_samples(db, folded.history.apply(events))
        folded.link, folded.row = link, summary
        self._folded.keep(run_id, folded)

    def forget(self, db: sqlite3.Connection, run_id: int) -> None:
        """Fold a run anew at its next event: earlier events have changed."""
        self._folded.forget(run_id)
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
        rows = [(name, _labels(labels), count, count) for (name, labels), count in counts.items()]
        db.executemany(_COUNT, rows)


def counted(events: Iterable[Event]) -> list[tuple[str, str, float]]:
    """Return the counts of a run as they are stored: name, labels, value."""
    return [(name, _labels(labels), count) for (name, labels), count in RunCounter().count(events).items()]


def rebuild(db: sqlite3.Connection) -> int:
    """Rebuild the whole index from the events, within a transaction, and return the number of runs."""
    for table in ("ledger_index", "ledger_tags", "ledger_counters", "ledger_history"):
        db.execute(f"DELETE FROM {table}")
    counts: Counts = Counts()
    run_ids = [run_id for (run_id,) in db.execute("SELECT id FROM ledger_runs ORDER BY id")]
    for run_id in run_ids:
        put(db, run_id, folded_summary(db, run_id))
        events = list(_events(db, run_id))
        counts.update(RunCounter().count(events))
        add_samples(db, samples_of(events))
    add_counts(db, counts)
    db.executemany(_COUNT, db.execute("SELECT name, labels, value, value FROM ledger_carried").fetchall())
    return len(run_ids)


def renew_waiting(db: sqlite3.Connection) -> None:
    """Write the rows of runs that wait anew, within a transaction: an earlier version had no open request in them."""
    for (run_id,) in db.execute("SELECT run FROM ledger_index WHERE waits_for IS NOT NULL").fetchall():
        put(db, run_id, folded_summary(db, run_id))


def differences(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the names of runs whose index row does not match their events."""
    for run_id, thread, n in db.execute("SELECT id, thread, n FROM ledger_runs ORDER BY id").fetchall():
        if summary_of(db, run_id) != folded_summary(db, run_id) or _tags(db, run_id) != _tags_of_row(db, run_id):
            yield run_name(thread, n)


def folded_summary(db: sqlite3.Connection, run_id: int) -> RunSummary:
    """Return a run's expected index row."""
    return Summarizer(*_name(db, run_id)).apply(_events(db, run_id)).summary


def summary_of(db: sqlite3.Connection, run_id: int) -> RunSummary | None:
    """Return a run's row, None if it has none."""
    row = db.execute(f"{SELECT} WHERE ledger_index.run = ?", (run_id,)).fetchone()
    return read(row) if row else None


_labels = lru_cache(maxsize=256)(json.dumps)
"""Labels of a count as they are stored."""


def _folded(db: sqlite3.Connection, run_id: int, before_seq: int) -> FoldedRun:
    thread, n = _name(db, run_id)
    return FoldedRun.of(thread, n, _events(db, run_id), before_seq)


def _name(db: sqlite3.Connection, run_id: int) -> tuple[str, int]:
    thread, n = db.execute("SELECT thread, n FROM ledger_runs WHERE id = ?", (run_id,)).fetchone()
    return thread, n


def _events(db: sqlite3.Connection, run_id: int) -> Iterator[Event]:
    return (event for event in map(event_of, read_rows(db, run_id)) if event is not None)


def _tags(db: sqlite3.Connection, run_id: int) -> set[str]:
    return {tag for (tag,) in db.execute("SELECT tag FROM ledger_tags WHERE run = ?", (run_id,))}


def _tags_of_row(db: sqlite3.Connection, run_id: int) -> set[str]:
    found = summary_of(db, run_id)
    return set(found.tags) if found else set()
