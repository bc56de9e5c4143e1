"""The artifacts that each run names, so that one can be removed with the last run that names it."""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress

from planner_executor.graph.ledger.sqlite.queries import read_rows
from planner_executor.graph.ledger.transcript import artifact_ids, event_of
from planner_executor.graph.record.summary import CHANGED


def note_uses(db: sqlite3.Connection, run_id: int, named: Sequence[str]) -> None:
    """Note artifacts that new events of a run name."""
    if named:
        db.executemany("INSERT OR IGNORE INTO ledger_uses VALUES (?, ?)", [(name, run_id) for name in named])


def note_all_uses(db: sqlite3.Connection) -> None:
    """Note the artifacts that all stored events name."""
    for (run_id,) in db.execute("SELECT id FROM ledger_runs ORDER BY id").fetchall():
        renew_uses(db, run_id)


def renew_uses(db: sqlite3.Connection, run_id: int) -> None:
    """Note the artifacts of a run whose events were changed."""
    db.execute("DELETE FROM ledger_uses WHERE run = ?", (run_id,))
    for event in map(event_of, read_rows(db, run_id)):
        with suppress(*CHANGED):
            note_uses(db, run_id, artifact_ids([event] if event is not None else []))


def remove_unused(db: sqlite3.Connection, artifacts: Iterable[str]) -> None:
    """Remove those of the artifacts that no run names."""
    query = "DELETE FROM ledger_artifacts WHERE id = ? AND NOT EXISTS (SELECT 1 FROM ledger_uses WHERE artifact = id)"
    db.executemany(query, [(name,) for name in artifacts])
