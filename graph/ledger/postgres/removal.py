"""Removing a thread with all that is stored of it, and its tombstone."""

from collections.abc import Sequence

from planner_executor.graph.ledger.index_row import stored_counts
from planner_executor.graph.ledger.owner import may_live
from planner_executor.graph.ledger.postgres.artifact_uses import LOCK, remove_unused
from planner_executor.graph.ledger.postgres.event_writer import EventWriter
from planner_executor.graph.ledger.postgres.queries import forks_of, locked, numbers_of
from planner_executor.graph.ledger.postgres.schema import OF_A_RUN
from planner_executor.graph.ledger.postgres.thread_tables import remove_thread
from planner_executor.graph.ledger.postgres.transaction import LONG, Transaction
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.ledger.refusals import changed_since, owned_elsewhere, sealed_otherwise
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.tombstone import Tombstone, Tombstones, digests_of, end_fault, tombstone_after
from planner_executor.graph.ledger.transcript import Transcript, artifact_ids
from planner_executor.graph.record.counters import RunCounter

_COLUMNS = "number, thread, first, heads, at, person, key, link"
_READ = f"SELECT {_COLUMNS}, seal FROM ledger_tombstones"
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
) -> Tombstone:
    """Remove a thread, within a transaction; see `graph.ledger.run_store.RunStore.remove`.

    An owner that was silent for more than `silent_s` seconds is dead.
    """
    tx.tell(LONG)
    database, key = writer.database, writer.key
    run_ids = _unchanged(tx, database, runs, silent_s)
    found = latest_tombstone(tx)
    last = found.rows[-1] if found.rows else None
    if fault := end_fault(last, found.seal, key):
        raise sealed_otherwise(database, fault)
    made = tombstone_after(last, runs, at, by, key)
    for run_id in run_ids:
        writer.index.forget(tx, run_id)
    for table in OF_A_RUN:
        tx.tell(f"DELETE FROM {table} WHERE run = ANY(%s)", run_ids)
    tx.tell("DELETE FROM ledger_runs WHERE id = ANY(%s)", run_ids)
    remove_unused(tx, {name for run in runs for name in artifact_ids(run.events())})
    remove_thread(tx, runs[0].thread)
    for run in runs:
        tx.tell_rows(_CARRY, sorted(stored_counts(RunCounter().count(run.events()))))
    _put(tx, made, key)
    return made


def tombstones_of(tx: Transaction, name: str | None = None) -> Tombstones:
    """Return all tombstones, or only those of the threads that a name may mean."""
    if name is None:
        return Tombstones.read(tx.ask(f"{_READ} ORDER BY number"))
    return Tombstones.read(tx.ask(f"{_READ} WHERE thread IN (%s, %s) ORDER BY number", *digests_of(name)))


def latest_tombstone(tx: Transaction) -> Tombstones:
    """Return the tombstone that the next one is chained to, with the seal; none in a database that lost no thread."""
    return Tombstones.read(tx.ask(f"{_READ} ORDER BY number DESC LIMIT 1"))


def _unchanged(tx: Transaction, database: str, runs: Sequence[Transcript], silent_s: float) -> list[int]:
    """Return the rows of the runs, after a check that they are the whole thread, as it was read, and nobody's.

    The rows are locked first, and then the list of artifacts and tombstones: in the order of all who write.
    """
    keys = [RunKey(run.thread, run.n) for run in runs]
    run_ids = []
    if numbers_of(tx, keys[0].thread) != [key.n for key in keys]:
        raise changed_since(database, keys[-1])
    for run, key in zip(runs, keys, strict=True):
        head = locked(tx, database, key)
        owner = head.holder.owner if head.holder is not None else ""
        if may_live(owner) and head.silent_s <= silent_s:
            raise owned_elsewhere(database, key)
        if head.link != run.head:
            raise changed_since(database, key)
        run_ids.append(head.run_id)
    # Whoever adds a run, also a fork, names artifacts in its events and waits for this lock: now look again.
    tx.tell("SELECT pg_advisory_xact_lock(%s)", LOCK)
    if numbers_of(tx, keys[0].thread) != [key.n for key in keys]:
        raise changed_since(database, keys[-1])
    names = {key.id for key in keys}
    for fork, source in forks_of(tx):
        if source in names and fork not in keys:
            raise changed_since(database, fork)
    return run_ids


def _put(tx: Transaction, made: Tombstone, key: SealKey | None) -> None:
    """Add a tombstone; only the last one has a seal."""
    tx.tell("UPDATE ledger_tombstones SET seal = NULL WHERE number = %s", made.number - 1)
    values = (*made.stored(), key.seal(made.link) if key else None, made.last)
    marks = ", ".join(["%s"] * len(values))
    tx.tell(f"INSERT INTO ledger_tombstones ({_COLUMNS}, seal, last) VALUES ({marks})", *values)
