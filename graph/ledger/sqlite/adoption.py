"""Storing a thread's runs as another database has them."""

import sqlite3
from collections.abc import Sequence

from graph.ledger.refusals import thread_is_there
from graph.ledger.sqlite.queries import last_number, stored_row
from graph.ledger.sqlite.run_index import add_counts, folded_summary, put
from graph.ledger.transcript import Transcript
from graph.record.counters import RunCounter


def adopt(db: sqlite3.Connection, database: str, runs: Sequence[Transcript]) -> None:
    """Store the runs, within a transaction.

    Raises:
        InputError: The thread is already there.
    """
    for thread in {run.thread for run in runs}:
        if last_number(db, thread):
            raise thread_is_there(database, thread)
    for run in runs:
        values = (run.thread, run.n, run.written, run.key, run.seal)
        query = "INSERT INTO ledger_runs (thread, n, events, key, seal) VALUES (?, ?, ?, ?, ?)"
        run_id = db.execute(query, values).lastrowid
        assert run_id is not None
        rows = [(run_id, *stored_row(row)) for row in run.rows]
        db.executemany("INSERT INTO ledger_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        db.executemany("INSERT OR IGNORE INTO ledger_artifacts VALUES (?, ?)", list(run.artifacts.items()))
        put(db, run_id, folded_summary(db, run_id))
        add_counts(db, RunCounter().count(run.events()))
