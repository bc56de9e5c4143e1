"""The artifacts that each run names, so that one can be removed with the last run that names it."""

from collections.abc import Collection, Sequence
from contextlib import suppress

from planner_executor.graph.ledger.postgres.queries import read_rows
from planner_executor.graph.ledger.postgres.transaction import Transaction
from planner_executor.graph.ledger.transcript import artifact_ids, event_of
from planner_executor.graph.record.summary import CHANGED

LOCK = 6_911_051_277_381_204_003
"""Shared by whoever writes events that name artifacts, and held alone by whoever removes artifacts: neither misses what
the other has not committed yet."""


def note_uses(tx: Transaction, run_id: int, named: Sequence[str]) -> None:
    """Note artifacts that new events of a run name."""
    if named:
        tx.tell("SELECT pg_advisory_xact_lock_shared(%s)", LOCK)
        _put(tx, run_id, named)


def note_all_uses(tx: Transaction) -> None:
    """Note the artifacts that all stored events name."""
    for (run_id,) in tx.ask("SELECT id FROM ledger_runs ORDER BY id"):
        renew_uses(tx, run_id)


def renew_uses(tx: Transaction, run_id: int) -> None:
    """Note the artifacts of a run whose events were changed."""
    tx.tell("DELETE FROM ledger_uses WHERE run = %s", run_id)
    for event in map(event_of, read_rows(tx, run_id)):
        with suppress(*CHANGED):
            _put(tx, run_id, artifact_ids([event]) if event is not None else [])


def remove_unused(tx: Transaction, artifacts: Collection[str]) -> None:
    """Remove those of the artifacts that no run names; the rows of the caller's runs are locked before."""
    if artifacts:
        tx.tell("SELECT pg_advisory_xact_lock(%s)", LOCK)
        tx.tell(
            "DELETE FROM ledger_artifacts WHERE id = ANY(%s) "
            "AND NOT EXISTS (SELECT FROM ledger_uses WHERE artifact = id)",
            sorted(artifacts),
        )


def _put(tx: Transaction, run_id: int, named: Sequence[str]) -> None:
    rows = [(name, run_id) for name in named]
    tx.tell_rows("INSERT INTO ledger_uses (artifact, run) VALUES {} ON CONFLICT DO NOTHING", rows)
