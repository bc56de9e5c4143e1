"""HTML in notebooks beside pictures: facts and tables, in the colours and fonts of the page.

Untrusted text is escaped twice: invisible characters first (`graph.plain_text.sanitize`), then markup.
"""

from collections.abc import Iterable, Sequence
from html import escape

from planner_executor.graph.plain_text.sanitize import document, escaped
from planner_executor.graph.text.drawing.statuses import ALL_LOOKS, LOOKS

SHOWN_CHARACTERS = 2_000
"""How much of a goal, an answer or an error stands beside a picture."""

_RULE = "border:1px solid color-mix(in srgb,currentColor 30%,transparent)"
_CELL = f"{_RULE};padding:4px 10px;text-align:left;vertical-align:top"
_TABLE = "border-collapse:collapse;margin:8px 0;max-width:100%;font-size:13px;color:inherit;background:none"


def words(text: str) -> str:
    r"""Return untrusted text as HTML; a long one is cut, with the number of omitted letters.

    >>> words("<b>\u202e")
    '&lt;b&gt;\\u{202e}'
    """
    more = len(text) - SHOWN_CHARACTERS
    shown = document(text[:SHOWN_CHARACTERS]) + (f"… ({more} more letters)" if more > 0 else "")
    return escape(shown).replace("\n", "<br>")


def badge(status: str) -> str:
    """Return a status as a word on its colour."""
    # A status of an event of another release has no colour here.
    colour = ALL_LOOKS.get(status, LOOKS["pending"]).strong  # behind white letters
    style = f"background:{colour};color:#fff;border-radius:9px;padding:1px 9px;font-size:12px;font-weight:700"
    return f'<span style="{style};white-space:nowrap">{escape(escaped(status))}</span>'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return facts one below the other: (name, HTML); the lines of a text stay lines."""
    cells = "".join(
        f'<tr><th style="{_CELL};font-weight:600;white-space:nowrap">{escape(name)}</th>'
        f'<td style="{_CELL};white-space:pre-wrap;overflow-wrap:anywhere" dir="auto">{html}</td></tr>'
        for name, html in rows
    )
    return f'<table style="{_TABLE}">{cells}</table>'


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are HTML."""
    head = "".join(f'<th style="{_CELL};font-weight:600;white-space:nowrap">{escape(name)}</th>' for name in columns)
    cells = (
        "".join(f'<td style="{_CELL};overflow-wrap:break-word" dir="auto">{cell}</td>' for cell in row) for row in rows
    )
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return scrolled(f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>')


def scrolled(html: str) -> str:
    """Return a part of a page that scrolls if it is larger than its place, and is never clipped."""
    return f'<div style="max-width:100%;max-height:90vh;overflow:auto">{html}</div>'
