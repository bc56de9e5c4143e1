"""Storing a thread's runs as another database has them."""

from collections.abc import Sequence

from planner_executor.graph.ledger.family import effects_of, source_of
from planner_executor.graph.ledger.folded_runs import RunFold
from planner_executor.graph.ledger.postgres.artifact_uses import note_uses
from planner_executor.graph.ledger.postgres.event_writer import PUT_ARTIFACTS, PUT_EVENTS
from planner_executor.graph.ledger.postgres.family_table import join_forks, lock_families, note_effects, put_family
from planner_executor.graph.ledger.postgres.queries import NEXT_NUMBER
from planner_executor.graph.ledger.postgres.run_index import add_folded
from planner_executor.graph.ledger.postgres.transaction import Transaction
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.ledger.refusals import thread_is_there
from planner_executor.graph.ledger.tombstone import thread_digest
from planner_executor.graph.ledger.transcript import Transcript, artifact_ids

ROWS = 500
"""Events that one statement writes."""


def adopt(tx: Transaction, database: str, runs: Sequence[Transcript]) -> None:
    """Store the runs, within a transaction.

    Raises:
        InputError: The thread is already there.
    """
    for thread in {run.thread for run in runs}:
        if tx.ask(f"SELECT {NEXT_NUMBER}", thread, thread_digest(thread))[0][0] > 1:
            raise thread_is_there(database, thread)
    lock_families(tx, alone=True)
    for run in runs:
        query = "INSERT INTO ledger_runs (thread, n, events, key, seal) VALUES (%s, %s, %s, %s, %s) RETURNING id"
        (run_id,) = tx.ask(query, run.thread, run.n, run.written, run.key, run.seal)[0]
        tx.changed.add(run_id)
        events = run.events()
        put_family(tx, run_id, RunKey(run.thread, run.n), source_of(events))
        for place in range(0, len(run.rows), ROWS):
            tx.tell_rows(PUT_EVENTS, [(run_id, *row) for row in run.rows[place : place + ROWS]])
        tx.tell_rows(PUT_ARTIFACTS, sorted(run.artifacts.items()))
        note_uses(tx, run_id, artifact_ids(events))
        note_effects(tx, run_id, effects_of(run.rows))
        add_folded(tx, run_id, RunFold(run.thread, run.n).apply(events))
    join_forks(tx, {run.run for run in runs})
