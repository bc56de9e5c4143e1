"""Removing a thread with all that is stored of it, and its tombstone."""

from collections.abc import Callable, Sequence

from planner_executor.graph.errors import LedgerSealError, RunOwnedError, StaleRunError
from planner_executor.graph.ledger.owner import may_live
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.stored_counts import stored_counts
from planner_executor.graph.ledger.tables.dialect import AMONG, either
from planner_executor.graph.ledger.tables.event_writer import EventWriter
from planner_executor.graph.ledger.tables.locks import USES, lock
from planner_executor.graph.ledger.tables.runs import TOP, forks_of, locked, numbers_of
from planner_executor.graph.ledger.tables.schema import OF_A_RUN
from planner_executor.graph.ledger.tables.transaction import PATIENCE, Transaction
from planner_executor.graph.ledger.tables.uses import remove_unused
from planner_executor.graph.ledger.tombstone import Tombstone, Tombstones, digests_of, end_fault, tombstone_after
from planner_executor.graph.ledger.transcript import Transcript, artifact_ids
from planner_executor.graph.record.counters import RunCounter
from planner_executor.graph.record.run_key import RunKey

Remove = Callable[[Transaction, str], None]
"""Removes the checkpoints of a thread."""
_COLUMNS = "number, thread, first, heads, at, person, key, link, seal"
_READ = f"SELECT {_COLUMNS} FROM ledger_tombstones"
_PUT = f"""INSERT INTO ledger_tombstones ({_COLUMNS}, last{either(", top", "")})
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s{either(f", {TOP}", "")})"""
_CARRY = (
    "INSERT INTO ledger_carried AS carried (name, labels, value) VALUES {} "
    "ON CONFLICT (name, labels) DO UPDATE SET value = carried.value + excluded.value"
)


def remove(
    tx: Transaction,
    writer: EventWriter,
    silent_s: float,
    runs: Sequence[Transcript],
    at: float,
    by: str,
    remove_checkpoints: Remove,
) -> Tombstone:
    """Remove a thread, within a transaction; see `graph.ledger.run_store.RunStore.remove`.

    An owner that was silent for more than `silent_s` seconds is dead.
    """
    tx.on_server(PATIENCE)
    database, key = writer.database, writer.key
    run_ids = _unchanged(tx, database, runs, silent_s)
    found = Tombstones.read(tx.ask(f"{_READ} ORDER BY number DESC LIMIT 1"))
    last = found.rows[-1] if found.rows else None
    if fault := end_fault(last, found.seal, key):
        raise LedgerSealError(database, "(any)", fault)
    made = tombstone_after(last, runs, at, by, key)
    _put(tx, made, key)  # before the rows are gone: it has the highest of their numbers
    for run_id in run_ids:
        writer.index.forget(tx, run_id)
    for table in OF_A_RUN:
        tx.tell(f"DELETE FROM {table} WHERE run {AMONG}", tx.many(run_ids))
    tx.tell(f"DELETE FROM ledger_runs WHERE id {AMONG}", tx.many(run_ids))
    remove_unused(tx, {name for run in runs for name in artifact_ids(run.events())})
    remove_checkpoints(tx, runs[0].thread)
    for run in runs:
        tx.tell_rows(_CARRY, sorted(stored_counts(RunCounter().count(run.events()))))
    return made


def tombstones_of(tx: Transaction, name: str | None = None) -> Tombstones:
    """Return all tombstones, or only those of the threads that a name may mean."""
    if name is None:
        return Tombstones.read(tx.ask(f"{_READ} ORDER BY number"))
    return Tombstones.read(tx.ask(f"{_READ} WHERE thread IN (%s, %s) ORDER BY number", *digests_of(name)))


def _unchanged(tx: Transaction, database: str, runs: Sequence[Transcript], silent_s: float) -> list[int]:
    """Return the rows of the runs, after a check that they are the whole thread, as it was read, and nobody's.

    The rows are locked first, and then the list of artifacts and tombstones: in the order of all who write.
    """
    keys = [RunKey(run.thread, run.n) for run in runs]
    run_ids = []
    if numbers_of(tx, keys[0].thread) != [key.n for key in keys]:
        raise StaleRunError(database, keys[-1].id)
    for run, key in zip(runs, keys, strict=True):
        head = locked(tx, database, key)
        owner = head.holder.owner if head.holder is not None else ""
        if may_live(owner) and head.silent_s <= silent_s:
            raise RunOwnedError(database, key.id)
        if head.link != run.head:
            raise StaleRunError(database, key.id)
        run_ids.append(head.run_id)
    # Whoever adds a run, also a fork, names artifacts in its events and waits for this lock: now look again.
    lock(tx, USES)
    if numbers_of(tx, keys[0].thread) != [key.n for key in keys]:
        raise StaleRunError(database, keys[-1].id)
    names = {key.id for key in keys}
    for fork, source in forks_of(tx):
        if source in names and fork not in keys:
            raise StaleRunError(database, fork.id)
    return run_ids


def _put(tx: Transaction, made: Tombstone, key: SealKey | None) -> None:
    """Add a tombstone; only the last one has a seal."""
    tx.tell("UPDATE ledger_tombstones SET seal = NULL WHERE number = %s", made.number - 1)
    tx.tell(_PUT, *made.stored(), key.seal(made.link) if key else None, made.last)
