"""The dependency graph of a plan: cycles, levels, blocked steps and the critical path."""

from collections.abc import Collection, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

from planner_executor.graph.plan.schema import Step

Waits = Mapping[str, tuple[str, ...]]


def waits_for(steps: Iterable[Step]) -> dict[str, tuple[str, ...]]:
    """Return step id -> ids of its dependencies, named ones and those implied by references."""
    return {step.id: step.waits for step in steps}


def in_order(waits: Waits) -> Iterable[str]:
    """Return the ids, each after those that it waits for, as most plans are written; the graph must be acyclic."""
    passed: set[str] = set()
    for step, befores in waits.items():
        if not passed.issuperset(befores):
            return TopologicalSorter(waits).static_order()
        passed.add(step)
    return waits


def waits_without(waits: Waits, given: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return what each step waits for if the given ones wait for nothing.

    Who waits for a given step waits for its dependencies instead: a gate before it still guards what comes after it.
    """
    behind: dict[str, tuple[str, ...]] = {}
    for step in in_order(waits):
        found = (one for before in waits[step] for one in (before, *(behind[before] if before in given else ())))
        behind[step] = tuple(dict.fromkeys(found))
    return {step: () if step in given else behind[step] for step in waits}


def cycles(waits: Waits, most: int = 20) -> list[tuple[str, ...]]:
    """Return at most `most` disjoint cycles of the graph; unknown ids are ignored."""
    left = waits
    found: list[tuple[str, ...]] = []
    while len(found) < most:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            cycle = tuple(reversed(error.args[1]))
            found.append(cycle)
            closed = set(cycle)  # it may have thousands of steps
            left = {step: befores for step, befores in left.items() if step not in closed}
        else:
            break
    return found


def levels(waits: Waits) -> dict[str, int]:
    """Return step id -> length of the longest chain of steps before it; the graph must be acyclic."""
    level: dict[str, int] = {}
    for step in in_order(waits):
        level[step] = 1 + max((level[before] for before in waits[step]), default=-1)
    return level


def blocked_by(waits: Waits, stuck: Collection[str]) -> dict[str, str]:
    """Return step id -> the stuck step that it depends on, directly or not; stuck steps themselves are left out."""
    cause: dict[str, str] = {}
    for step in in_order(waits):
        for before in waits[step]:
            if step not in stuck and (before in stuck or before in cause):
                cause[step] = cause.get(before, before)
                break
    return cause


def last_steps(waits: Waits) -> list[str]:
    """Return the ids that no step depends on, in plan order."""
    awaited = {before for befores in waits.values() for before in befores}
    return [step for step in waits if step not in awaited]


def critical_path(order: Iterable[str], waits: Waits, duration_s: Mapping[str, float]) -> tuple[float, tuple[str, ...]]:
    """Return the shortest possible wall-clock time of a plan, in seconds, and the chain of steps that sets it.

    Any number of steps may run at once: the longest chain, in O(steps + edges).

    Args:
        order: The ids of all steps, each after those it depends on.
        waits: Step id -> ids it depends on; one entry per step.
        duration_s: Expected seconds per step id, each >= 0; covers every step.

    Source: Kelley and Walker, "Critical-path planning and scheduling", 1959.

    >>> critical_path("abc", {"a": (), "b": (), "c": ("a",)}, {"a": 2.0, "b": 4.0, "c": 3.0})
    (5.0, ('a', 'c'))
    """
    finish_s: dict[str, float] = {}
    before_it: dict[str, str | None] = {}
    for step in order:
        latest = max(waits[step], key=finish_s.__getitem__, default=None)
        before_it[step] = latest
        finish_s[step] = (finish_s[latest] if latest else 0.0) + duration_s[step]
    chain: list[str] = []
    last = max(finish_s, key=finish_s.__getitem__, default=None)
    total_s = finish_s[last] if last else 0.0
    while last is not None:
        chain.append(last)
        last = before_it[last]
    return total_s, tuple(reversed(chain))
