"""The artifacts that each run names, so that one can be removed with the last run that names it."""

from collections.abc import Collection, Sequence
from contextlib import suppress

from planner_executor.graph.ledger.tables.dialect import AMONG
from planner_executor.graph.ledger.tables.locks import USES, lock
from planner_executor.graph.ledger.tables.run_rows import read_rows
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.ledger.transcript import artifact_ids, event_of
from planner_executor.graph.record.summary import CHANGED

_PUT = "INSERT INTO ledger_uses (artifact, run) VALUES {} ON CONFLICT DO NOTHING"
_REMOVE = f"""DELETE FROM ledger_artifacts WHERE id {AMONG}
    AND NOT EXISTS (SELECT 1 FROM ledger_uses WHERE artifact = id)"""


def note_uses(tx: Transaction, run_id: int, named: Sequence[str]) -> None:
    """Note artifacts that new events of a run name."""
    if named:
        lock(tx, USES, alone=False)
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
        lock(tx, USES)
        tx.tell(_REMOVE, tx.many(sorted(artifacts)))


def _put(tx: Transaction, run_id: int, named: Sequence[str]) -> None:
    tx.tell_rows(_PUT, [(name, run_id) for name in named])
