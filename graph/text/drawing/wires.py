"""The edges of a drawing in rows and columns: wires along the free space between the boxes.

Each wire goes down from its step, aside, along a column, aside and down to the waiting step; wires of one step share a
way. Steps alternate between a few tracks, so that wires of neighbours run side by side.
"""

from collections.abc import Iterator

from planner_executor.graph.text.drawing.edges import HEAD, HEAD_LENGTH, LINE
from planner_executor.graph.text.drawing.grid import Grid

TRACKS = 5
_APART = 4
_LEAST = 7
"""Pixels between a box and the nearest wire beside it. Wires leave a row in the upper half of the gap below it, and
enter the next in the lower half."""


def wires(grid: Grid) -> Iterator[str]:
    """Yield one path per step that others wait for."""
    afters: dict[str, list[str]] = {}
    for after, befores in grid.edges.items():
        for before in befores:
            afters.setdefault(before, []).append(after)
    for before, ends in afters.items():
        # Wires of a step share their first pieces; equal ones are drawn once.
        path = "".join(dict.fromkeys(piece for after in ends for piece in _wire(grid, before, after)))
        yield f'<path data-from="{before}" d="{path}" fill="none" stroke="{LINE}" stroke-width="1.4"/>'


def wire_heads(grid: Grid) -> Iterator[str]:
    """Yield one arrowhead per step that waits for another."""
    for step, befores in grid.edges.items():
        if befores:
            x, y = grid.corner(step)
            x += grid.width // 2
            yield f'<path d="M{x} {y}L{x - 5} {y - HEAD_LENGTH}L{x + 5} {y - HEAD_LENGTH}z" fill="{HEAD}"/>'


def _wire(grid: Grid, before: str, after: str) -> Iterator[str]:
    """Yield the pieces of a wire; pieces shared by wires of a step are equal."""
    (row, column), (to_row, to_column) = grid.cells[before], grid.cells[after]
    (left, top), (to_left, to_top) = grid.corner(before), grid.corner(after)
    x, to_x, bottom = left + grid.width // 2, to_left + grid.width // 2, top + grid.height
    # Neighbours in a row and in a column get different tracks, so that their wires do not lie on each other.
    track = _APART * ((row + 2 * column) % TRACKS)
    end = to_top - HEAD_LENGTH + 1
    if to_row == row + 1 and to_column == column:
        yield f"M{x} {bottom}V{end}"
        return
    out = bottom + _LEAST + track
    yield f"M{x} {bottom}V{out}"
    if to_row == row + 1:
        yield f"M{x} {out}H{to_x}"
        yield f"M{to_x} {out}V{end}"
        return
    gutter = to_left - _LEAST - 1 - track
    into = to_top - HEAD_LENGTH - 2 - track // 2
    yield f"M{x} {out}H{gutter}"
    yield f"M{gutter} {out}V{into}H{to_x}V{end}"
