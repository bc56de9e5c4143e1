"""The positions of all elements in the drawing, in pixels from its top left corner."""

from collections.abc import Sequence
from dataclasses import dataclass

from planner_executor.graph.plan.schedule import Waits
from planner_executor.graph.text.drawing.crossings import untangled
from planner_executor.graph.text.drawing.layers import Layers, layered
from planner_executor.graph.text.drawing.positions import positions

Point = tuple[int, int]

MARGIN = 24
PAGE_WIDTH = 1120
"""Wider drawings run from left to right, if that makes them narrower."""

EFFORT = 40_000
"""Nodes and edges to go through, all sweeps together; at least a few sweeps are made."""


GAP = 28
"""Pixels between the boxes of a layer."""

SWING = 272
"""How far the handles of an edge without bends reach aside, in pixels; the curve itself goes three quarters of it."""

LAYER_GAP = 52
"""Pixels between two layers."""

USUAL_HEIGHT = 96
"""Of a box, in pixels."""


@dataclass(frozen=True)
class Layout:
    """Each node's position along the layers (the start of its layer) and across them (the middle of the node).

    `thickness` is the extent of each node's layer, `breadth` the extent of a box across the layer.
    """

    layers: Layers
    rightwards: bool
    breadth: int
    along: list[int]
    across: list[int]
    thickness: list[int]

    def entry(self, node: int) -> Point:
        """Return the point at which edges enter the node."""
        return self._point(self.along[node], self.across[node])

    def exit(self, node: int) -> Point:
        """Return the point at which edges leave the node."""
        return self._point(self.along[node] + self.thickness[node], self.across[node])

    def corner(self, step: int) -> Point:
        """Return the top left corner of a step's box."""
        return self._point(self.along[step], self.across[step] - self.breadth // 2)

    def box(self, step: int) -> Point:
        """Return width and height of a step's box."""
        return self._point(self.thickness[step], self.breadth)

    @property
    def extent(self) -> Point:
        """Width and height of the drawing, margins included."""
        nodes = range(len(self.along))
        half = [0 if self.layers.is_bend(node) else self.breadth // 2 for node in nodes]
        along = max((self.along[node] + self.thickness[node] for node in nodes), default=0)
        across = max((self.across[node] + half[node] for node in nodes), default=0)
        across += SWING // 2 if self.layers.far else 0
        return self._point(along + MARGIN, across + MARGIN)

    def _point(self, along: int, across: int) -> Point:
        return (along, across) if self.rightwards else (across, along)


def laid_out(waits: Waits, width: int, heights: Sequence[int]) -> Layout:
    """Lay the plan out: from the top down while it fits a page, otherwise whichever way is narrower.

    Args:
        waits: Step id -> ids it waits for, in plan order.
        width: Of every box, in pixels; even.
        heights: The height of each step's box, in plan order; even. Boxes of a layer are equally high.
    """
    layers = layered(waits)
    rightwards = _runs_right([sum(not layers.is_bend(node) for node in row) for row in layers.rows], width)
    breadth = max(heights, default=0) if rightwards else width
    # A larger plan gets fewer sweeps: its drawing must not take longer by the square of its size (decision 45).
    rounds = EFFORT // (1 + len(layers.above) + layers.edge_count)
    order = untangled(layers, sweeps=max(2, min(16, rounds)))
    middle = positions(layers, order, breadth, GAP, passes=max(4, min(60, rounds)))
    # The leftmost edge of a box, not the leftmost middle: bends have no breadth.
    near = min((at - (0 if layers.is_bend(node) else breadth / 2) for node, at in enumerate(middle)), default=0.0)
    across = [round(at - near) + MARGIN for at in middle]
    along, thickness = [0] * len(middle), [0] * len(middle)
    start = MARGIN
    for row in layers.rows:
        # No layer is of bends alone: a level is the length of a chain, of which a step stands on each level above.
        thick = width if rightwards else max(heights[node] for node in row if not layers.is_bend(node))
        for node in row:
            along[node], thickness[node] = start, thick
        start += thick + LAYER_GAP
    return Layout(layers, rightwards, breadth, along, across, thickness)


def estimated_extent(sizes: Sequence[int], width: int) -> Point:
    """Return about how wide and high a drawing would be, from the number of steps in each layer."""
    if _runs_right(sizes, width):
        return len(sizes) * (width + LAYER_GAP), max(sizes) * (USUAL_HEIGHT + GAP)
    return max(sizes) * (width + GAP), len(sizes) * (USUAL_HEIGHT + LAYER_GAP)


def _runs_right(sizes: Sequence[int], width: int) -> bool:
    widest = max(sizes, default=0)
    return widest * (width + GAP) > max(PAGE_WIDTH, len(sizes) * (width + LAYER_GAP))
