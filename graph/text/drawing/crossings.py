"""The order of nodes within their layers: few crossing edges."""

from bisect import bisect_right, insort
from itertools import accumulate, pairwise

from planner_executor.graph.text.drawing.layers import Layers

Order = list[list[int]]
MOST_EDGES = 20_000
"""With more edges than this, crossings are neither visible nor fast to count."""


def untangled(layers: Layers, sweeps: int) -> Order:
    """Return the nodes of each layer in an order with few crossings, found in at most `sweeps` sweeps.

    Sweeps down and up the layers put each node at the mean place of its neighbours; the best order seen wins.

    Source: Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system structures", 1981.
    """
    order = [list(row) for row in layers.rows]
    if layers.edge_count > MOST_EDGES:
        return order
    best, fewest = order, crossings(layers, order)
    # A sweep down sorts each layer by the one above, a sweep up by the one below; neither settles alone.
    for sweep in range(sweeps):
        if not fewest:
            break
        order = _swept(order, layers.above) if sweep % 2 == 0 else _swept(order[::-1], layers.below)[::-1]
        count = crossings(layers, order)
        if count < fewest:
            best, fewest = order, count
    return best


def crossings(layers: Layers, order: Order) -> int:
    """Count the pairs of edges that cross."""
    count = 0
    for upper, lower in pairwise(order):
        place = {node: number for number, node in enumerate(lower)}
        # From left to right, an edge crosses each earlier one of another node that ends further to the right.
        seen: list[int] = []
        for node in upper:
            ends = sorted(place[below] for below in layers.below[node])
            count += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return count


def _swept(order: Order, neighbours: list[list[int]]) -> Order:
    """Sort each row but the first by the one swept before it."""
    return list(accumulate(order, lambda fixed, row: _sorted_by_mean(row, fixed, neighbours)))


def _sorted_by_mean(row: list[int], fixed: list[int], neighbours: list[list[int]]) -> list[int]:
    """Sort a layer by the mean place of neighbours, as a share of the layer's width; a free node keeps its place."""
    share = {node: (number + 0.5) / len(fixed) for number, node in enumerate(fixed)}
    key = {}
    for number, node in enumerate(row):
        near = neighbours[node]
        key[node] = sum(share[other] for other in near) / len(near) if near else (number + 0.5) / len(row)
    return sorted(row, key=key.__getitem__)
