"""Which threads go when some are to be removed, and their tombstones; a driver looks them up and removes them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from planner_executor.graph.errors import RunOwnedError, StaleRunError
from planner_executor.graph.ledger.run_store import Removal
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.tombstone import Tombstone, tombstone_after
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.run_key import RunKey

Obstacle = RunOwnedError | StaleRunError


def removals(
    threads: Sequence[Sequence[Transcript]],
    last: Tombstone | None,
    at: float,
    by: str,
    key: SealKey | None,
    obstacle: Callable[[Sequence[Transcript], Collection[str]], Obstacle | None],
) -> Iterator[tuple[Sequence[Transcript], Removal]]:
    """Yield each thread with its tombstone, or with what keeps it; `obstacle` is told which threads go before it."""
    going: set[str] = set()
    for runs in threads:
        found: Removal | None = obstacle(runs, going)
        if found is None:
            found = last = tombstone_after(last, runs, at, by, key)
            going.add(runs[0].thread)
        yield runs, found


def obstacle_to(
    database: str,
    runs: Sequence[Transcript],
    numbers: Sequence[int],
    ends: Iterable[tuple[bool, bytes]],
    forks: Iterable[tuple[RunKey, str]],
    going: Collection[str],
) -> Obstacle | None:
    """Return what keeps a thread, or None if the runs are all of it, as they were read, and nobody's.

    Args:
        database: Its name, for the error.
        runs: The runs of the thread, as they were read.
        numbers: The numbers of those that are stored.
        ends: Of each, whether its owner may live, and the hash of its last event; not looked at if the numbers differ.
        forks: The forks in the family of the thread, each with the name of the run that it is a fork of.
        going: The threads that go too.
    """
    thread, names = runs[0].thread, {run.run for run in runs}
    if [*numbers] != [run.n for run in runs]:
        return StaleRunError(database, runs[-1].run)
    for run, (is_owned, link) in zip(runs, ends, strict=True):
        if is_owned:
            return RunOwnedError(database, run.run)
        # An event was written since the run was read: what was judged then may not hold any more.
        if link != run.head:
            return StaleRunError(database, run.run)
    left = (fork for fork, source in forks if source in names and fork.thread not in (thread, *going))
    return next((StaleRunError(database, fork.id) for fork in left), None)
