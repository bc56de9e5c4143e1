"""Removing threads with all that is stored of them, and their tombstones."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial

from planner_executor.graph.ledger.removal import Obstacle, obstacle_to, removals
from planner_executor.graph.ledger.run_store import Removal
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.stored_counts import stored_counts
from planner_executor.graph.ledger.tables.dialect import AMONG, either
from planner_executor.graph.ledger.tables.event_writer import EventWriter
from planner_executor.graph.ledger.tables.locks import USES, lock
from planner_executor.graph.ledger.tables.run_rows import run_id_of
from planner_executor.graph.ledger.tables.runs import TOP, forks_of, head_of, lock_row, numbers_of
from planner_executor.graph.ledger.tables.schema import OF_A_RUN
from planner_executor.graph.ledger.tables.transaction import PATIENCE, Transaction
from planner_executor.graph.ledger.tables.uses import remove_unused
from planner_executor.graph.ledger.tombstone import Tombstone, Tombstones, digests_of
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.counters import Counts, RunCounter
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
    threads: Sequence[Sequence[Transcript]],
    at: float,
    by: str,
    remove_checkpoints: Remove,
) -> list[Removal]:
    """Remove threads, within a transaction; see `graph.ledger.run_store.RunStore.remove`.

    An owner that was silent for more than `silent_s` seconds is dead.
    """
    tx.on_server(PATIENCE)
    _lock(tx, threads)
    database, key = writer.database, writer.key
    found = Tombstones.read(tx.ask(f"{_READ} ORDER BY number DESC LIMIT 1"))
    obstacle = partial(_obstacle, tx, database, silent_s)
    done = list(removals(threads, found.end(database, key), at, by, key, obstacle))
    going = [(runs, made) for runs, made in done if isinstance(made, Tombstone)]
    for _, made in going:
        _put(tx, made, key)  # before the rows are gone: it has the highest of their numbers
    _forget(tx, writer, [run for runs, _ in going for run in runs])
    for runs, _ in going:
        remove_checkpoints(tx, runs[0].thread)
    return [found for _, found in done]


def tombstones_of(tx: Transaction, name: str | None = None) -> Tombstones:
    """Return all tombstones, or only those of the threads that a name may mean."""
    if name is None:
        return Tombstones.read(tx.ask(f"{_READ} ORDER BY number"))
    return Tombstones.read(tx.ask(f"{_READ} WHERE thread IN (%s, %s) ORDER BY number", *digests_of(name)))


def _lock(tx: Transaction, threads: Sequence[Sequence[Transcript]]) -> None:
    """Lock the rows of the runs, and then the list of artifacts and tombstones: in the order of all who write.

    Whoever adds a run, also a fork, names artifacts in its events and waits for the second lock.
    """
    for key in sorted(RunKey(run.thread, run.n) for runs in threads for run in runs):
        lock_row(tx, key)
    lock(tx, USES)


def _obstacle(
    tx: Transaction, database: str, silent_s: float, runs: Sequence[Transcript], going: Collection[str]
) -> Obstacle | None:
    thread = runs[0].thread
    heads = (head_of(tx, database, RunKey(thread, run.n)) for run in runs)
    ends = ((head.is_worked_on(silent_s), head.link) for head in heads)
    return obstacle_to(database, runs, numbers_of(tx, thread), ends, forks_of(tx, thread), going)


def _forget(tx: Transaction, writer: EventWriter, runs: Sequence[Transcript]) -> None:
    """Remove what the tables hold of runs, but for their counts."""
    run_ids = [run_id_of(tx, writer.database, RunKey(run.thread, run.n)) for run in runs]
    for run_id in run_ids:
        writer.index.forget(tx, run_id)
    for table in OF_A_RUN:
        tx.tell(f"DELETE FROM {table} WHERE run {AMONG}", tx.many(run_ids))
    tx.tell(f"DELETE FROM ledger_runs WHERE id {AMONG}", tx.many(run_ids))
    remove_unused(tx, {name for run in runs for name in run.artifacts})
    # Of events that nothing else has any more, so the totals over all runs stay what they were.
    counts: Counts = Counter()
    for run in runs:
        counts.update(RunCounter().count(run.events()))
    tx.tell_rows(_CARRY, sorted(stored_counts(counts)))


def _put(tx: Transaction, made: Tombstone, key: SealKey | None) -> None:
    """Add a tombstone; only the last one has a seal."""
    tx.tell("UPDATE ledger_tombstones SET seal = NULL WHERE number = %s", made.number - 1)
    tx.tell(_PUT, *made.stored(), key.seal(made.link) if key else None, made.last)
