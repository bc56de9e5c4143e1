"""The edges of a layered drawing as SVG: curves from layer to layer, and an arrowhead for each step that waits."""

from collections.abc import Iterator

from planner_executor.graph.text.drawing.layout import SWING, Layout, Point

LINE, HEAD = "#8492a6", "#64748b"
HEAD_LENGTH = 9


def lines(layout: Layout) -> Iterator[str]:
    """Yield one path per step: all that leaves it, bends included."""
    layers = layout.layers
    pieces: dict[str, list[str]] = {}
    for node, belows in enumerate(layers.below):
        if belows:
            path = pieces.setdefault(layers.owner.get(node) or layers.steps[node], [])
            if layers.is_bend(node):
                path.append(_straight(layout.entry(node), layout.exit(node)))
            path.extend(_curve(layout, node, below) for below in belows)
    for step, path in pieces.items():
        yield f'<path data-from="{step}" d="{"".join(path)}" fill="none" stroke="{LINE}" stroke-width="1.6"/>'


def _straight(start: Point, end: Point) -> str:
    return f"M{start[0]} {start[1]}L{end[0]} {end[1]}"


def _curve(layout: Layout, upper: int, lower: int) -> str:
    (x1, y1), (x2, y2) = layout.exit(upper), layout.entry(lower)
    # A line ends one pixel inside its arrowhead, so that no gap shows; a
    # bend has no head, and the line goes on from it.
    short = 0 if layout.layers.is_bend(lower) else HEAD_LENGTH - 1
    if layout.rightwards:
        middle = (x1 + x2) // 2
        return f"M{x1} {y1}C{middle} {y1} {middle - short} {y2} {x2 - short} {y2}"
    middle = (y1 + y2) // 2
    return f"M{x1} {y1}C{x1} {middle} {x2} {middle - short} {x2} {y2 - short}"


def far_lines(layout: Layout) -> Iterator[str]:
    """Yield edges that pass too many layers for bends: each one swings out sideways in one curve."""
    number = {step: node for node, step in enumerate(layout.layers.steps)}
    for before, after in layout.layers.far:
        (x1, y1), (x2, y2) = layout.exit(number[before]), layout.entry(number[after])
        if layout.rightwards:
            x2 -= HEAD_LENGTH - 1
            handles = f"{x1 + SWING} {y1 + SWING} {x2 - SWING} {y2 + SWING}"
        else:
            y2 -= HEAD_LENGTH - 1
            handles = f"{x1 + SWING} {y1 + SWING} {x2 + SWING} {y2 - SWING}"
        yield (
            f'<path data-from="{before}" d="M{x1} {y1}C{handles} {x2} {y2}" fill="none" '
            f'stroke="{LINE}" stroke-width="1.2" stroke-dasharray="2 4"/>'
        )


def heads(layout: Layout) -> Iterator[str]:
    """Yield one arrowhead per step that waits for another."""
    layers = layout.layers
    far = {after for _, after in layers.far}
    for node, step in enumerate(layers.steps):
        if layers.above[node] or step in far:
            x, y = layout.entry(node)
            wings = (
                f"{x - HEAD_LENGTH} {y - 5}L{x - HEAD_LENGTH} {y + 5}"
                if layout.rightwards
                else f"{x - 5} {y - HEAD_LENGTH}L{x + 5} {y - HEAD_LENGTH}"
            )
            yield f'<path d="M{x} {y}L{wings}z" fill="{HEAD}"/>'
