"""The positions of the nodes in each layer: as near to their neighbours as order and gaps allow."""

from collections.abc import Sequence
from itertools import pairwise
from math import inf

from planner_executor.graph.text.drawing.crossings import Order
from planner_executor.graph.text.drawing.layers import Layers

PULL = {0: 4.0, 1: 0.5, 2: 8.0}
"""How strongly an edge pulls its ends into line, by how many of them are bends: long edges run straight."""

SNAP = 24.0
"""Pixels: an edge with a smaller offset is made straight if there is room."""

HOLD = 0.1
"""How strongly a node without neighbours keeps its place."""


def positions(layers: Layers, order: Order, box: float, gap: float, passes: int) -> list[float]:
    """Return the middle of each node across its layer.

    Each layer in turn is put where the squared lengths of its edges, weighed by their pull, are least.

    Args:
        layers: The nodes and their neighbours.
        order: The nodes of each layer, in order.
        box: The extent of a box across the layer; a bend has none.
        gap: The free space between two nodes of a layer.
        passes: How often all layers are gone through, down and up in turn.
    """
    middle = [0.0] * len(layers.above)
    rows = [(row, _gaps(layers, row, box, gap)) for row in order]
    # Each layer begins packed around 0; the passes pull it to where its neighbours are.
    for row, apart in rows:
        _settle(middle, row, spread([0.0] * len(row), apart, [1.0] * len(row)))
    for number in range(passes):
        down = number % 2 == 0
        # At first each pass follows one side alone, which spreads the layers; then both sides pull.
        ways = [layers.above if down else layers.below] if number < 2 else [layers.above, layers.below]
        for row, apart in rows if down else reversed(rows):
            wanted, pulls = zip(*(_wanted(layers, middle, node, ways) for node in row), strict=True)
            _settle(middle, row, spread(wanted, apart, pulls))
    for row, apart in rows:
        _straighten(layers, middle, row, apart)
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
        # A node that would pass the one before joins its block, which stands where its nodes want to be on average.
        while blocks and blocks[-1][0] * mass >= total * blocks[-1][1]:
            earlier = blocks.pop()
            total, mass, count = total + earlier[0], mass + earlier[1], count + earlier[2]
        blocks.append((total, mass, count))
    starts = [total / mass for total, mass, count in blocks for _ in range(count)]
    return [start + shift for start, shift in zip(starts, offsets, strict=True)]


def _gaps(layers: Layers, row: Sequence[int], box: float, gap: float) -> list[float]:
    half = [0.0 if layers.is_bend(node) else box / 2 for node in row]
    return [left + gap + right for left, right in pairwise(half)]


def _settle(middle: list[float], row: Sequence[int], places: Sequence[float]) -> None:
    for node, place in zip(row, places, strict=True):
        middle[node] = place


def _straighten(layers: Layers, middle: list[float], row: Sequence[int], apart: Sequence[float]) -> None:
    """Align nodes with the sources of their edges if they are nearly aligned and there is room."""
    # From left to right: the node before has its final place, and sets the least place of this one.
    least = -inf
    for number, node in enumerate(row):
        most = middle[row[number + 1]] - apart[number] if number + 1 < len(row) else inf
        for other in layers.above[node]:
            place = middle[other]
            alike = layers.is_bend(node) == layers.is_bend(other)
            if alike and abs(place - middle[node]) <= SNAP and least <= place <= most:
                middle[node] = place
                break
        least = middle[node] + (apart[number] if number < len(apart) else 0.0)


def _wanted(
    layers: Layers, middle: Sequence[float], node: int, ways: Sequence[Sequence[Sequence[int]]]
) -> tuple[float, float]:
    """Return the position to which its neighbours pull the node, and the strength of the pull."""
    total, mass = middle[node] * HOLD, HOLD
    bends = layers.is_bend(node)
    for way in ways:
        for other in way[node]:
            pull = PULL[bends + layers.is_bend(other)]
            total += middle[other] * pull
            mass += pull
    return total / mass, mass
