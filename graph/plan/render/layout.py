"""Where everything in the drawing stands, in pixels from its top left corner."""

from dataclasses import dataclass

from graph.plan.render.crossings import untangled
from graph.plan.render.layers import Layers, layered
from graph.plan.render.positions import positions
from graph.plan.schedule import Waits

Point = tuple[int, int]

MARGIN = 24
PAGE_WIDTH = 1120
"""Wider drawings run from left to right, if that makes them narrower."""

EFFORT = 24_000
"""Nodes and edges to go through, all sweeps together; at least a few sweeps are made."""


@dataclass(frozen=True)
class Sizes:
    """Pixels: a box, the gap between boxes of a layer and the one between layers."""

    width: int
    height: int
    gap: int = 28
    layer_gap: int = 52


@dataclass(frozen=True)
class Layout:
    """Every node's place along the layers, where its layer begins, and across them, at its middle."""

    layers: Layers
    sizes: Sizes
    rightwards: bool
    along: list[int]
    across: list[int]

    def entry(self, node: int) -> Point:
        """Return where edges enter the node."""
        return self._point(self.along[node], self.across[node])

    def exit(self, node: int) -> Point:
        """Return where edges leave the node."""
        return self._point(self.along[node] + _thickness(self.sizes, self.rightwards), self.across[node])

    def corner(self, node: int) -> Point:
        """Return the top left corner of a step's box."""
        return self._point(self.along[node], self.across[node] - _breadth(self.sizes, self.rightwards) // 2)

    @property
    def extent(self) -> Point:
        """Width and height of the drawing, margins included."""
        ends = [self.corner(node) for node in range(len(self.layers.steps))]
        right = max((x for x, _ in ends), default=0) + self.sizes.width
        bottom = max((y for _, y in ends), default=0) + self.sizes.height
        bends = [self.exit(node) for node in range(len(self.layers.steps), len(self.along))]
        return (
            max([right, *(x for x, _ in bends)]) + MARGIN,
            max([bottom, *(y for _, y in bends)]) + MARGIN,
        )

    def _point(self, along: int, across: int) -> Point:
        return (along, across) if self.rightwards else (across, along)


def laid_out(waits: Waits, sizes: Sizes) -> Layout:
    """Lay the plan out: from the top down while it fits a page, otherwise whichever way is narrower."""
    layers = layered(waits)
    rightwards = _runs_right(layers, sizes)
    breadth = _breadth(sizes, rightwards)
    rounds = EFFORT // (1 + len(layers.above) + layers.edge_count)
    order = untangled(layers, sweeps=max(2, min(16, rounds)))
    middle = positions(layers, order, breadth, sizes.gap, passes=max(4, min(16, rounds)))
    edge = min((place - (0 if layers.is_bend(node) else breadth / 2) for node, place in enumerate(middle)), default=0.0)
    step = _thickness(sizes, rightwards) + sizes.layer_gap
    along = [0] * len(middle)
    for number, row in enumerate(layers.rows):
        for node in row:
            along[node] = MARGIN + number * step
    return Layout(layers, sizes, rightwards, along, [round(place - edge) + MARGIN for place in middle])


def _thickness(sizes: Sizes, rightwards: bool) -> int:
    return sizes.width if rightwards else sizes.height


def _breadth(sizes: Sizes, rightwards: bool) -> int:
    return sizes.height if rightwards else sizes.width


def _runs_right(layers: Layers, sizes: Sizes) -> bool:
    widest = max((sum(not layers.is_bend(node) for node in row) for row in layers.rows), default=0)
    across = widest * (sizes.width + sizes.gap)
    return across > PAGE_WIDTH and len(layers.rows) * (sizes.width + sizes.layer_gap) < across
