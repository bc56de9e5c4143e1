"""Removing threads from memory, and their tombstones."""

from collections.abc import Collection, Mapping, Sequence

from planner_executor.graph.errors import RunOwnedError, StaleRunError
from planner_executor.graph.ledger.memory.store import Store
from planner_executor.graph.ledger.owner import may_live
from planner_executor.graph.ledger.run_store import Removal
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.tombstone import Tombstone, Tombstones, tombstone_after
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.counters import RunCounter


def remove(
    store: Store, database: str, key: SealKey | None, threads: Sequence[Sequence[Transcript]], at: float, by: str
) -> list[Removal]:
    """Remove threads, atomically; see `graph.ledger.run_store.RunStore.remove`."""
    before = store.tombstones
    last = before.end(database, key)
    made: list[Tombstone] = []
    done: list[Removal] = []
    going: dict[str, Sequence[Transcript]] = {}
    for runs in threads:
        if (kept := _obstacle(store, database, runs, going)) is not None:
            done.append(kept)
            continue
        last = tombstone_after(last, runs, at, by, key)
        made.append(last)
        done.append(last)
        going[runs[0].thread] = runs
    _forget(store, going)
    if made:
        store.tombstones = Tombstones((*before.rows, *made), key.seal(made[-1].link) if key else None)
    return done


def _obstacle(
    store: Store, database: str, runs: Sequence[Transcript], going: Collection[str]
) -> RunOwnedError | StaleRunError | None:
    """Return what keeps a thread, or None if the runs are all of it, as they were read, and nobody's."""
    thread, names = runs[0].thread, {run.run for run in runs}
    stored = store.of_thread(thread)
    if [run.key.n for run in stored] != [run.n for run in runs]:
        return StaleRunError(database, runs[-1].run)
    for run, read in zip(stored, runs, strict=True):
        if run.holder is not None and may_live(run.holder.owner):
            return RunOwnedError(database, read.run)
        # An event was written since the run was read: what was judged then may not hold any more.
        if run.end[1] != read.head:
            return StaleRunError(database, read.run)
    forks = (fork for fork, source in store.forks_of(thread) if source in names and fork.thread not in (thread, *going))
    return next((StaleRunError(database, fork.id) for fork in forks), None)


def _forget(store: Store, going: Mapping[str, Sequence[Transcript]]) -> None:
    """Remove the runs of threads, but for their counts."""
    gone = [run for thread in going for run in store.threads.pop(thread)]
    for run in gone:
        store.carried.update(RunCounter().count(run.events()))
        store.uses.forget(run.number)
        store.families[run.family].remove(run)
    store.runs[:] = [run for run in store.runs if run.key.thread not in going]
    store.outbox.forget([run.key for run in gone])
    store.remove_unused({name for runs in going.values() for run in runs for name in run.artifacts})
