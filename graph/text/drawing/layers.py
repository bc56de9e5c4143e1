"""Steps in layers: each below its dependencies, with bends in edges that pass a layer."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

from planner_executor.graph.plan.schedule import Waits, levels

Edge = tuple[str, str]
"""(before, after)."""


@dataclass(frozen=True)
class Layers:
    """Nodes are numbers: the steps in plan order, then the bends.

    A bend belongs to the step its edge starts at; all edges of one step share their bends. `far` holds the edges that
    pass too many layers to get bends. Every other edge leads from one layer to the next, in `above` and `below`.
    """

    steps: tuple[str, ...]
    rows: list[list[int]]
    above: list[list[int]]
    below: list[list[int]]
    owner: Mapping[int, str]
    far: tuple[Edge, ...]
    implied: int

    @property
    def edge_count(self) -> int:
        """How many edges lead from one layer to the next."""
        return sum(map(len, self.below))

    def is_bend(self, node: int) -> bool:
        """Whether the node stands for a passing edge, not for a step."""
        return node >= len(self.steps)


def layered(waits: Waits) -> Layers:
    """Put each step into the layer given by the longest chain before it.

    Bends are limited to about two per step, so that drawing stays linear. If steps have very many dependencies, edges
    implied by longer chains are left out and counted in `implied`.
    """
    drawn = without_implied(waits)
    level = levels(drawn)
    building = _Building(drawn, level)
    edges = [(before, after) for after, befores in drawn.items() for before in befores]
    edges.sort(key=lambda edge: level[edge[1]] - level[edge[0]])  # short edges first: they need few of the bends
    far = tuple(edge for edge in edges if not building.join(*edge))
    implied = sum(map(len, waits.values())) - len(edges)
    return Layers(tuple(waits), building.rows, building.above, building.below, building.owner, far, implied)


class _Building:
    """Layers under construction."""

    def __init__(self, waits: Waits, level: Mapping[str, int]) -> None:
        self.level = level
        self.number = {step: number for number, step in enumerate(waits)}
        self.rows: list[list[int]] = [[] for _ in range(1 + max(level.values(), default=-1))]
        for step, number in self.number.items():
            self.rows[level[step]].append(number)
        self.above: list[list[int]] = [[] for _ in waits]
        self.below: list[list[int]] = [[] for _ in waits]
        self.owner: dict[int, str] = {}
        self.tails: dict[str, list[int]] = {}
        self.most_nodes = 3 * len(waits) + 60

    def join(self, before: str, after: str) -> bool:
        """Lead an edge through the layers between its ends; return False if that takes too many bends."""
        tail = self.tails.setdefault(before, [self.number[before]])
        span = self.level[after] - self.level[before]
        # Bends that an earlier edge of the same step has made are used again, and cost nothing.
        if len(self.above) + span - len(tail) > self.most_nodes:
            return False
        while len(tail) < span:
            bend = len(self.above)
            self.above.append([])
            self.below.append([])
            self.owner[bend] = before
            self.rows[self.level[before] + len(tail)].append(bend)
            self._link(tail[-1], bend)
            tail.append(bend)
        self._link(tail[span - 1], self.number[after])
        return True

    def _link(self, upper: int, lower: int) -> None:
        self.below[upper].append(lower)
        self.above[lower].append(upper)


def without_implied(waits: Waits) -> Waits:
    """Drop each edge that follows from a longer chain, if there are very many edges.

    Sets of steps are the bits of an integer.
    """
    if sum(map(len, waits.values())) <= 5 * len(waits) + 20:
        # Few edges are all drawn: leaving one out would save no room, and a reader compares them with the plan.
        return waits
    bit = {step: 1 << number for number, step in enumerate(waits)}
    level = levels(waits)
    before_it: dict[str, int] = {}
    kept: dict[str, tuple[str, ...]] = {}
    for step in sorted(waits, key=level.__getitem__):
        # What is before a dependency is before this step too, so an edge from there says nothing new.
        indirect = reduce(or_, (before_it[before] for before in waits[step]), 0)
        kept[step] = tuple(before for before in waits[step] if not indirect & bit[before])
        before_it[step] = reduce(or_, (bit[before] for before in waits[step]), indirect)
    return {step: kept[step] for step in waits}
