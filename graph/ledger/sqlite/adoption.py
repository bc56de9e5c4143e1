"""Storing a thread's runs as another database has them."""

import sqlite3
from collections.abc import Sequence

from planner_executor.graph.ledger.family import source_of
from planner_executor.graph.ledger.refusals import thread_is_there
from planner_executor.graph.ledger.sqlite.artifact_uses import renew_uses
from planner_executor.graph.ledger.sqlite.family_table import family_of, join_forks, renew_effects
from planner_executor.graph.ledger.sqlite.history_table import add_samples
from planner_executor.graph.ledger.sqlite.queries import next_number, next_row, stored_row
from planner_executor.graph.ledger.sqlite.run_index import add_counts, folded, put
from planner_executor.graph.ledger.transcript import Transcript


def adopt(db: sqlite3.Connection, database: str, runs: Sequence[Transcript]) -> None:
    """Store the runs, within a transaction.

    Raises:
        InputError: The thread is already there.
    """
    for thread in {run.thread for run in runs}:
        if next_number(db, thread) > 1:
            raise thread_is_there(database, thread)
    for run in runs:
        run_id = next_row(db)
        family = family_of(db, run_id, run.thread, source_of(run.events()))
        values = (run_id, run.thread, run.n, run.written, run.key, run.seal, family)
        columns = "id, thread, n, events, key, seal, family"
        db.execute(f"INSERT INTO ledger_runs ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        rows = [(run_id, *stored_row(row)) for row in run.rows]
        db.executemany("INSERT INTO ledger_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        db.executemany("INSERT OR IGNORE INTO ledger_artifacts VALUES (?, ?)", list(run.artifacts.items()))
        renew_uses(db, run_id)
        renew_effects(db, run_id)
        whole = folded(db, run_id)
        put(db, run_id, whole.row)
        add_counts(db, whole.counts)
        add_samples(db, whole.samples)
    join_forks(db, {run.run for run in runs})
