"""Positions in the drawing of a large plan: boxes of one size in rows and columns.

A level with more steps than fit side by side takes several rows; a long plan continues at the top, to the right. The
space between rows and between columns is free of boxes, so that every edge can pass (decision 45).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isqrt

from planner_executor.graph.plan.schedule import Waits, levels
from planner_executor.graph.text.drawing.layers import without_implied

MARGIN = 24
COLUMN_GAP, ROW_GAP = 44, 46
"""Pixels between columns and between rows, where the edges run."""
ASPECT = 4 / 3
"""Width over height that drawings come near to."""
IN_SIGHT = 3
"""Columns that any page shows at once: in a wide drawing small levels stand there, in sight."""
SPLIT, FOLD = 0.2, 0.05
"""How much larger a drawing may be rather than split all levels, or fold once more."""

Cell = tuple[int, int]
"""(row, column), over the whole drawing."""


@dataclass(frozen=True)
class Grid:
    """Each step's cell, the size of every box in pixels, the drawn edges, and the number of omitted ones."""

    cells: Mapping[str, Cell]
    width: int
    height: int
    edges: Waits
    implied: int

    def corner(self, step: str) -> tuple[int, int]:
        """Return the top left corner of a step's box."""
        row, column = self.cells[step]
        left = MARGIN + COLUMN_GAP + column * (self.width + COLUMN_GAP)
        return left, MARGIN + ROW_GAP + row * (self.height + ROW_GAP)

    @property
    def extent(self) -> tuple[int, int]:
        """Width and height of the drawing, margins included."""
        rows = 1 + max(row for row, _ in self.cells.values())
        columns = 1 + max(column for _, column in self.cells.values())
        return (
            2 * MARGIN + COLUMN_GAP + columns * (self.width + COLUMN_GAP),
            2 * MARGIN + ROW_GAP + rows * (self.height + ROW_GAP),
        )


def in_grid(waits: Waits, width: int, height: int) -> Grid:
    """Put each step into a cell below its dependencies, or further to the right.

    Args:
        waits: Step id -> ids it waits for, in plan order; not empty.
        width: Of every box, in pixels.
        height: Of every box, in pixels.
    """
    drawn = without_implied(waits)
    rows = _ordered(drawn)
    columns, rows_high = _shape([len(row) for row in rows], width + COLUMN_GAP, height + ROW_GAP)
    cells, line = {}, 0
    for row in rows:
        # A wide drawing scrolls: a small level in its middle would be out of sight on every page.
        near = columns if columns <= 2 * IN_SIGHT else IN_SIGHT
        aside = (near - min(near, len(row))) // 2
        for place, step in enumerate(row):
            panel, at = divmod(line + place // columns, rows_high)
            cells[step] = (at, panel * columns + aside + place % columns)
        line += ceil(len(row) / columns)
    implied = sum(map(len, waits.values())) - sum(map(len, drawn.values()))
    return Grid(cells, width, height, drawn, implied)


def _ordered(waits: Waits) -> list[list[str]]:
    """Return the steps of each level, each near its dependencies."""
    level = levels(waits)
    rows: list[list[str]] = [[] for _ in range(1 + max(level.values()))]
    for step in waits:
        rows[level[step]].append(step)
    share: dict[str, float] = {}
    # Levels come in order, so whatever a step waits for has its share by then.
    for row in rows:
        means = {step: sum(map(share.__getitem__, waits[step])) / max(1, len(waits[step])) for step in row}
        row.sort(key=means.__getitem__)
        share.update({step: (place + 0.5) / len(row) for place, step in enumerate(row)})
    return rows


def _shape(sizes: Sequence[int], width: int, height: int) -> tuple[int, int]:
    """Return the most columns of a level, and the most rows before a fold.

    Args:
        sizes: The number of steps in each level.
        width: Of a column with its gap, in pixels.
        height: Of a row with its gap, in pixels.
    """
    widest, total = max(sizes), sum(sizes)
    best, least = (1, total), float("inf")
    # The widest level split into whole rows: about the square root of its size are worth a try, so the search is short.
    for columns in {ceil(widest / parts) for parts in range(1, 2 * isqrt(widest) + 2)}:
        rows = sum(ceil(size / columns) for size in sizes)
        ideal = max(1, round((rows * height * ASPECT / (columns * width)) ** 0.5))
        split = sum(size for size in sizes if size > columns) / total
        # The best number of panels is near the one that gives the aspect; rounding makes its neighbours candidates too.
        for panels in (max(1, ideal - 1), ideal, ideal + 1):
            high = ceil(rows / panels)
            longest = max(columns * ceil(rows / high) * width, high * height * ASPECT)
            price = longest * (1 + SPLIT * split) * (1 + FOLD * (panels - 1))
            if price < least:
                best, least = (columns, high), price
    return best
