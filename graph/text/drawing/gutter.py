"""Rails: the edges of a plan as lines beside its steps, one row per step, like the history of version control."""

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

from planner_executor.graph.plan.schedule import Waits

MOST_LINES = 10
"""Lines that may run side by side."""


def steps_in_order(waits: Waits) -> list[str]:
    """Return the steps so that each comes after its dependencies, otherwise in plan order.

    >>> steps_in_order({"c": ("a",), "b": (), "a": ()})
    ['b', 'a', 'c']
    """
    steps = list(waits)
    place = {step: number for number, step in enumerate(steps)}
    sorter = TopologicalSorter(waits)
    sorter.prepare()
    # Of the steps that may come next, the first one in the plan: a sorter alone gives them in no order to rely on.
    ready: list[int] = []
    order: list[str] = []
    while sorter.is_active():
        for step in sorter.get_ready():
            heapq.heappush(ready, place[step])
        order.append(steps[heapq.heappop(ready)])
        sorter.done(order[-1])
    return order


def rails(waits: Waits, order: Sequence[str], mark: Callable[[str], str]) -> list[str] | None:
    """Return one row per step of `order`, or None if more than `MOST_LINES` lines would run side by side.

    Args:
        waits: Step id -> ids it waits for.
        order: Every step, after its dependencies.
        mark: One character for a step.

    >>> print(*rails({"a": (), "b": (), "c": ("a", "b")}, ["a", "b", "c"], lambda step: "o"), sep="\\n")
    o
    │ o
    o─╯
    """
    lanes = _Lanes(Counter(before for befores in waits.values() for before in befores))
    rows = []
    for step in order:
        rows.append(lanes.row(step, waits[step], mark(step)))
        # A plan of many open edges is given up on at once: every further row would take as long as its lanes are many.
        if len(lanes.holders) > MOST_LINES:
            return None
    return rows


@dataclass
class _Lanes:
    """The owners of the lanes: a step keeps its lane until the last step that depends on it is drawn."""

    left: Counter[str]
    holders: list[str | None] = field(default_factory=list)
    lane_of: dict[str, int] = field(default_factory=dict)

    def row(self, step: str, befores: Sequence[str], mark: str) -> str:
        """Draw a step at the end of its dependencies' lanes, and assign it a lane."""
        self.left.subtract(befores)
        joined = {self.lane_of[before]: self.left[before] == 0 for before in befores}
        for before in befores:
            if not self.left[before]:
                self.holders[self.lane_of.pop(before)] = None
        # A step goes on in the lane of a line that ends at it, so that a chain is one straight line.
        lane = self._take(step, min((lane for lane, ends in joined.items() if ends), default=None))
        # The row is drawn before empty lanes are dropped, since lines that end here are still seen in it.
        row = self._draw(lane, joined, mark)
        if not self.left[step]:
            self.holders[lane] = None
            del self.lane_of[step]
        while self.holders and self.holders[-1] is None:
            self.holders.pop()
        return row

    def _take(self, step: str, freed: int | None) -> int:
        if freed is None:
            if None not in self.holders:
                self.holders.append(None)
            freed = self.holders.index(None)
        self.holders[freed] = step
        self.lane_of[step] = freed
        return freed

    def _draw(self, lane: int, joined: dict[int, bool], mark: str) -> str:
        first, last = min([lane, *joined]), max([lane, *joined])
        cells = []
        for place, holder in enumerate(self.holders):
            if place == lane:
                cells.append(mark)
            elif place in joined:
                # 0 at the left end of the row, 1 in between, 2 at the right end.
                cells.append(_JOINTS[joined[place]][(place > first) + (place == last)])
            elif holder is not None:
                cells.append("│")
            else:
                cells.append("─" if first < place < last else " ")
            cells.append("─" if first <= place < last else " ")
        return "".join(cells).rstrip()


_JOINTS = {True: "╰┴╯", False: "├┼┤"}
"""Whether the line ends here -> its junctions with the row: at the left end, in between, at the right end."""
