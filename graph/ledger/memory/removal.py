"""Removing a thread from memory, and its tombstone."""

from collections.abc import Sequence

from planner_executor.graph.errors import LedgerSealError, RunOwnedError, StaleRunError
from planner_executor.graph.ledger.memory.store import Store, StoredRun
from planner_executor.graph.ledger.owner import may_live
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.tombstone import Tombstone, Tombstones, end_fault, tombstone_after
from planner_executor.graph.ledger.transcript import Transcript, artifact_ids
from planner_executor.graph.record.counters import RunCounter
from planner_executor.graph.record.run_key import RunKey


def remove(
    store: Store, database: str, key: SealKey | None, runs: Sequence[Transcript], at: float, by: str
) -> Tombstone:
    """Remove a thread, atomically; see `graph.ledger.run_store.RunStore.remove`."""
    stored = _unchanged(store, database, runs)
    before = store.tombstones
    last = before.rows[-1] if before.rows else None
    if fault := end_fault(last, before.seal, key):
        raise LedgerSealError(database, "(any)", fault)
    made = tombstone_after(last, runs, at, by, key)
    for run in stored:
        store.carried.update(RunCounter().count(run.events()))
        store.uses.forget(run.number)
    store.runs[:] = [run for run in store.runs if run.key.thread != runs[0].thread]
    del store.threads[runs[0].thread]
    for run in stored:
        store.families[run.family].remove(run)
    store.outbox.forget([run.key for run in stored])
    store.remove_unused({name for run in runs for name in artifact_ids(run.events())})
    store.tombstones = Tombstones((*before.rows, made), key.seal(made.link) if key else None)
    return made


def _unchanged(store: Store, database: str, runs: Sequence[Transcript]) -> Sequence[StoredRun]:
    """Return the runs, after a check that they are the whole thread, as it was read, and nobody's."""
    stored = list(store.of_thread(runs[0].thread))
    if [run.key.n for run in stored] != [run.n for run in runs]:
        raise StaleRunError(database, RunKey(runs[0].thread, runs[-1].n).id)
    for run, read in zip(stored, runs, strict=True):
        if run.holder is not None and may_live(run.holder.owner):
            raise RunOwnedError(database, run.key.id)
        if run.end[1] != read.head:
            raise StaleRunError(database, run.key.id)
    names = {run.key.id for run in stored}
    for fork, source in store.forks():
        if source in names and fork.thread != runs[0].thread:
            raise StaleRunError(database, fork.id)
    return stored
