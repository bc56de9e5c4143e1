"""Removing threads from memory, and their tombstones."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from planner_executor.graph.ledger.memory.store import Store
from planner_executor.graph.ledger.owner import may_live
from planner_executor.graph.ledger.removal import Obstacle, obstacle_to, removals
from planner_executor.graph.ledger.run_store import Removal
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.tombstone import Tombstone, Tombstones
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.counters import RunCounter


def remove(
    store: Store, database: str, key: SealKey | None, threads: Sequence[Sequence[Transcript]], at: float, by: str
) -> list[Removal]:
    """Remove threads, atomically; see `graph.ledger.run_store.RunStore.remove`."""
    before, obstacle = store.tombstones, partial(_obstacle, store, database)
    done = list(removals(threads, before.end(database, key), at, by, key, obstacle))
    made = [found for _, found in done if isinstance(found, Tombstone)]
    _forget(store, {runs[0].thread: runs for runs, found in done if isinstance(found, Tombstone)})
    if made:
        store.tombstones = Tombstones((*before.rows, *made), key.seal(made[-1].link) if key else None)
    return [found for _, found in done]


def _obstacle(store: Store, database: str, runs: Sequence[Transcript], going: Collection[str]) -> Obstacle | None:
    thread = runs[0].thread
    stored = store.of_thread(thread)
    ends = ((run.holder is not None and may_live(run.holder.owner), run.end[1]) for run in stored)
    return obstacle_to(database, runs, [run.key.n for run in stored], ends, store.forks_of(thread), going)


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
