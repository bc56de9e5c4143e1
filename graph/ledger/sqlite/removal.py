"""Removing a thread with all that is stored of it, and its tombstone."""

import sqlite3
from collections.abc import Sequence

from planner_executor.graph.ledger.index_row import stored_counts
from planner_executor.graph.ledger.owner import may_live
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.ledger.refusals import changed_since, owned_elsewhere, sealed_otherwise
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.sqlite.artifact_uses import remove_unused
from planner_executor.graph.ledger.sqlite.checkpoint_redaction import is_there
from planner_executor.graph.ledger.sqlite.event_writer import EventWriter
from planner_executor.graph.ledger.sqlite.queries import forks_of, head_of, next_row, numbers_of, run_id_of
from planner_executor.graph.ledger.sqlite.schema import OF_A_RUN
from planner_executor.graph.ledger.sqlite.thread_tables import removed_thread
from planner_executor.graph.ledger.tombstone import Tombstone, Tombstones, digests_of, end_fault, tombstone_after
from planner_executor.graph.ledger.transcript import Transcript, artifact_ids
from planner_executor.graph.record.counters import RunCounter

_COLUMNS = "number, thread, first, heads, at, person, key, link"
_READ = f"SELECT {_COLUMNS}, seal FROM ledger_tombstones"
_CARRY = "INSERT INTO ledger_carried VALUES (?, ?, ?) ON CONFLICT (name, labels) DO UPDATE SET value = value + ?"


def remove(db: sqlite3.Connection, writer: EventWriter, runs: Sequence[Transcript], at: float, by: str) -> Tombstone:
    """Remove a thread, within a transaction; see `graph.ledger.run_store.RunStore.remove`."""
    database, key = writer.database, writer.key
    run_ids = _unchanged(db, database, runs)
    found = latest_tombstone(db)
    last = found.rows[-1] if found.rows else None
    if fault := end_fault(last, found.seal, key):
        raise sealed_otherwise(database, fault)
    made = tombstone_after(last, runs, at, by, key)
    top = next_row(db) - 1  # before the rows are gone
    for run_id in run_ids:
        writer.index.forget(db, run_id)
    for table in OF_A_RUN:
        db.executemany(f"DELETE FROM {table} WHERE run = ?", [(run_id,) for run_id in run_ids])
    db.executemany("DELETE FROM ledger_runs WHERE id = ?", [(run_id,) for run_id in run_ids])
    remove_unused(db, {name for run in runs for name in artifact_ids(run.events())})
    if is_there(db, "checkpoints"):
        for statement, values in removed_thread(runs[0].thread):
            db.execute(statement, values)
    counts = [count for run in runs for count in stored_counts(RunCounter().count(run.events()))]
    db.executemany(_CARRY, [(name, labels, value, value) for name, labels, value in counts])
    _put(db, made, key, top)
    return made


def tombstones_of(db: sqlite3.Connection, name: str | None = None) -> Tombstones:
    """Return all tombstones, or only those of the threads that a name may mean."""
    if name is None:
        return Tombstones.read(db.execute(f"{_READ} ORDER BY number"))
    return Tombstones.read(db.execute(f"{_READ} WHERE thread IN (?, ?) ORDER BY number", digests_of(name)))


def latest_tombstone(db: sqlite3.Connection) -> Tombstones:
    """Return the tombstone that the next one is chained to, with the seal; none in a database that lost no thread."""
    return Tombstones.read(db.execute(f"{_READ} ORDER BY number DESC LIMIT 1"))


def _unchanged(db: sqlite3.Connection, database: str, runs: Sequence[Transcript]) -> list[int]:
    """Return the rows of the runs, after a check that they are the whole thread, as it was read, and nobody's."""
    keys = [RunKey(run.thread, run.n) for run in runs]
    if numbers_of(db, keys[0].thread) != [key.n for key in keys]:
        raise changed_since(database, keys[-1])
    run_ids = [run_id_of(db, key) for key in keys]
    for run_id, run, key in zip(run_ids, runs, keys, strict=True):
        head = head_of(db, key, run_id)
        if head.holder is not None and may_live(head.holder.owner):
            raise owned_elsewhere(database, key)
        if head.link != run.head:
            raise changed_since(database, key)
    names = {key.id for key in keys}
    for fork, source in forks_of(db):
        if source in names and fork not in keys:
            raise changed_since(database, fork)
    return run_ids


def _put(db: sqlite3.Connection, made: Tombstone, key: SealKey | None, top: int) -> None:
    """Add a tombstone; only the last one has a seal."""
    db.execute("UPDATE ledger_tombstones SET seal = NULL WHERE number = ?", (made.number - 1,))
    columns = f"{_COLUMNS}, seal, last, top"
    values = (*made.stored(), key.seal(made.link) if key else None, made.last, top)
    db.execute(f"INSERT INTO ledger_tombstones ({columns}) VALUES ({', '.join('?' * len(values))})", values)
