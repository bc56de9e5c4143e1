"""Tables in notebooks, as HTML and as text."""

import time
from collections.abc import Sequence

from planner_executor.graph.plain_text.sanitize import escaped, one_line
from planner_executor.graph.text.drawing.labels import columns as wide
from planner_executor.graph.text.drawing.labels import cut_middle
from planner_executor.graph.text.html import badge, table, words

CELL_CHARACTERS = 300
TEXT_COLUMNS = 60
"""How wide a cell is at most in the text."""
STATUS = "status"
"""The column whose words stand on their colours."""

Bundle = dict[str, str]
"""MIME type -> the same in this form; a notebook shows the richest one that it can."""


def table_bundle(columns: Sequence[str], rows: Sequence[Sequence[str]], more: str = "") -> Bundle:
    """Return rows of untrusted texts under column names, and a line of text below the table."""
    html = table(columns, [[_cell(name, cell) for name, cell in zip(columns, row, strict=True)] for row in rows])
    lines = _lines([columns, *([cut_middle(one_line(cell), TEXT_COLUMNS) for cell in row] for row in rows)])
    return {
        "text/html": html + (f"<p>{words(more)}</p>" if more else ""),
        "text/plain": "\n".join([*lines, *([escaped(more)] if more else [])]),
    }


def local(moment: float) -> str:
    """Return Unix seconds as local date and time."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


def _cell(column: str, cell: str) -> str:
    return badge(cell) if column == STATUS else words(cut_middle(one_line(cell), CELL_CHARACTERS))


def _lines(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(wide, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell + " " * (width - wide(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def took(seconds: float) -> str:
    """Return a span of time in two units at most.

    >>> took(0.0421), took(75), took(7200)
    ('42 ms', '1 min 15 s', '2 h 0 min')
    """
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"
