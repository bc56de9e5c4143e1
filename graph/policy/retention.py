"""Which threads may be removed, and why one stays."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from planner_executor.graph.record.other_runs import calls_to_know
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.summary import RunSummary

Obstacle = Literal["waiting", "unfinished", "uncertain", "forked", "executing", "changed", "damaged", "newer"]
"""Why a thread stays: a request is open, a run has not ended, a call is uncertain, a fork of it is there, a process
works on it, it changed while it was read, its record is damaged, or a newer release wrote it."""


@dataclass(frozen=True)
class Retention:
    """Threads to remove: nothing happened in them since `before` (Unix seconds), and all runs ended as one of `ends`.

    With no `ends` the status does not matter.
    """

    before: float
    ends: frozenset[str] = frozenset()

    def is_due(self, runs: Sequence[RunSummary]) -> bool:
        """Whether a thread with these runs is to be removed, if nothing keeps it."""
        is_old = all(run.updated_at < self.before for run in runs)
        return is_old and (not self.ends or all(run.status in self.ends for run in runs))


@dataclass(frozen=True)
class KeptThread:
    """A thread that was to be removed and stays: the run that keeps it, and what is in the way.

    `about` names the fork, or the step of the uncertain call.
    """

    run: str
    obstacle: Obstacle
    about: str = ""


def threads_of(runs: Iterable[RunSummary]) -> list[list[RunSummary]]:
    """Return the runs by thread, in order; the thread with the latest run first.

    Args:
        runs: All runs, the latest first.
    """
    found: dict[str, list[RunSummary]] = {}
    for run in runs:
        found.setdefault(run.thread, []).insert(0, run)
    return list(found.values())


def slices_of(threads: Iterable[Sequence[RunSummary]], most: int) -> list[list[Sequence[RunSummary]]]:
    """Return threads in slices of at most so many events, in order; one with more is a slice of its own."""
    found: list[list[Sequence[RunSummary]]] = []
    room = 0
    for runs in threads:
        events = sum(run.seq for run in runs)
        if not found or events > room:
            found.append([])
            room = most
        found[-1].append(runs)
        room -= events
    return found


def obstacle_of(records: Sequence[RunState], forks: Collection[tuple[str, str]]) -> KeptThread | None:
    """Return what keeps a thread, or None.

    Args:
        records: Its runs, in order.
        forks: Forks on other threads, each with the name of the run that it is a fork of.
    """
    for record in records:
        if record.ended is None:
            return KeptThread(record.id, "waiting" if record.status == "waiting" else "unfinished")
    for call in calls_to_know(records):
        if call.is_uncertain:
            return KeptThread(call.run, "uncertain", call.step)
    names = {record.id for record in records}
    return next((KeptThread(source, "forked", fork) for fork, source in forks if source in names), None)
