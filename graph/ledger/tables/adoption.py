"""Storing a thread's runs as another database has them."""

from collections.abc import Sequence

from planner_executor.graph.ledger.family import effects_of, source_of
from planner_executor.graph.ledger.folded_runs import RunFold
from planner_executor.graph.ledger.refusals import thread_is_there
from planner_executor.graph.ledger.tables.event_writer import put_artifacts, put_rows
from planner_executor.graph.ledger.tables.families import join_forks, lock_families, note_effects, put_family
from planner_executor.graph.ledger.tables.run_index import add_folded
from planner_executor.graph.ledger.tables.runs import adopted_row, has_thread
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.ledger.tables.uses import note_uses
from planner_executor.graph.ledger.transcript import Transcript, artifact_ids
from planner_executor.graph.record.run_key import RunKey

ROWS = 500
"""Events that one statement writes."""


def adopt(tx: Transaction, database: str, runs: Sequence[Transcript]) -> None:
    """Store the runs, within a transaction.

    Raises:
        InputError: The thread is already there.
    """
    # Not into a thread that was removed either: its tombstone has given the numbers away.
    for thread in {run.thread for run in runs}:
        if has_thread(tx, thread):
            raise thread_is_there(database, thread)
    # Alone, as for a fork: the runs that arrive may make one family of two.
    lock_families(tx, alone=True)
    for run in runs:
        run_id, events = adopted_row(tx, run), run.events()
        put_family(tx, run_id, RunKey(run.thread, run.n), source_of(events))
        for place in range(0, len(run.rows), ROWS):
            put_rows(tx, run_id, run.rows[place : place + ROWS])
        put_artifacts(tx, list(run.artifacts.items()))
        note_uses(tx, run_id, artifact_ids(events))
        note_effects(tx, run_id, effects_of(run.rows))
        add_folded(tx, run_id, RunFold(run.thread, run.n).apply(events))
    # Last: a fork may be here already, or stand before the run that it is a fork of.
    join_forks(tx, {run.run for run in runs})
