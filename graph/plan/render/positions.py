"""Where the nodes of each layer stand: as near to their neighbours as order and gaps allow."""

from collections.abc import Sequence
from itertools import pairwise

from graph.plan.render.crossings import Order
from graph.plan.render.layers import Layers

BEND_WEIGHT = 3.0
"""How much more than a box a bend insists on its place, so that long edges run straight."""


def positions(layers: Layers, order: Order, box: float, gap: float, passes: int) -> list[float]:
    """Return the middle of each node across its layer.

    Args:
        layers: The nodes and their neighbours.
        order: The nodes of each layer, in order.
        box: What a box takes up across the layer; a bend takes nothing.
        gap: What stays free between two nodes of a layer.
        passes: How often all layers are gone through, down and up in turn.
    """
    middle = [0.0] * len(layers.above)
    gaps = [_gaps(layers, row, box, gap) for row in order]
    for row, apart in zip(order, gaps, strict=True):
        _place(middle, row, spread([0.0] * len(row), apart, [1.0] * len(row)))
    rows = list(zip(order, gaps, strict=True))
    for number in range(passes):
        late = number >= passes - 2
        for row, apart in rows if number % 2 == 0 else reversed(rows):
            ways = (layers.above, layers.below) if late else ((layers.above, layers.below)[number % 2],)
            near = [[other for way in ways for other in way[node]] for node in row]
            wanted = [_mean(middle, others, middle[node]) for node, others in zip(row, near, strict=True)]
            weights = [BEND_WEIGHT if layers.is_bend(node) else 1.0 for node in row]
            _place(middle, row, spread(wanted, apart, weights))
    return middle


def spread(wanted: Sequence[float], gaps: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return the places nearest to `wanted` (weighted least squares) that keep the order and the gaps between.

    Source: pool adjacent violators; Ayer, Brunk, Ewing, Reid and Silverman, 1955.

    >>> spread([0.0, 1.0, 9.0], [5.0, 2.0], [1.0, 1.0, 1.0])
    [-2.0, 3.0, 9.0]
    """
    offset, offsets = 0.0, []
    blocks: list[tuple[float, float, int]] = []
    for place, gap, weight in zip(wanted, [0.0, *gaps], weights, strict=True):
        offset += gap
        offsets.append(offset)
        total, mass, count = (place - offset) * weight, weight, 1
        while blocks and blocks[-1][0] * mass >= total * blocks[-1][1]:
            earlier = blocks.pop()
            total, mass, count = total + earlier[0], mass + earlier[1], count + earlier[2]
        blocks.append((total, mass, count))
    starts = [total / mass for total, mass, count in blocks for _ in range(count)]
    return [start + shift for start, shift in zip(starts, offsets, strict=True)]


def _gaps(layers: Layers, row: Sequence[int], box: float, gap: float) -> list[float]:
    half = [0.0 if layers.is_bend(node) else box / 2 for node in row]
    return [left + gap + right for left, right in pairwise(half)]


def _place(middle: list[float], row: Sequence[int], places: Sequence[float]) -> None:
    for node, place in zip(row, places, strict=True):
        middle[node] = place


def _mean(middle: Sequence[float], nodes: Sequence[int], otherwise: float) -> float:
    return sum(middle[node] for node in nodes) / len(nodes) if nodes else otherwise
