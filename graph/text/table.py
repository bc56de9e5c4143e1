"""Tables in notebooks, as HTML and as text."""

from collections.abc import Sequence

from planner_executor.graph.plain_text.columns import columns as wide
from planner_executor.graph.plain_text.columns import cut_middle
from planner_executor.graph.plain_text.sanitize import escaped, one_line
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


def _cell(column: str, cell: str) -> str:
    return badge(cell) if column == STATUS else words(cut_middle(one_line(cell), CELL_CHARACTERS))


def _lines(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(wide, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell + " " * (width - wide(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
