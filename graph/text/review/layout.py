"""The lines of data in a review: laid out for a width, and read back to be laid out for another.

A line begins with spaces and a mark or a margin of ours, at most two columns further in than the line before. A line
that goes on begins three columns or more further in than the line that it belongs to. So words from outside cannot
look like a line of ours, wherever they are broken, and a terminal can put the parts together again.
"""

import re
from collections.abc import Iterable, Iterator

from planner_executor.graph.plain_text.columns import columns, fitting
from planner_executor.graph.plain_text.sanitize import escape

WIDTH = 60
"""Columns of data: they fit into a narrow terminal, a chat and a panel of Studio."""
ITEM = "- "
MARGIN = "| "
GOES_ON = 3
"""How much further in a line begins that goes on."""
MIN_ROOM = 20
BROKEN = "↩"
"""Stands at the end of a line within a word; in words from outside it is escaped."""

_LEAD = re.compile(r" *(?:- |\| ?)?")


def entry(text: str, lead: str = ITEM, width: int = WIDTH) -> list[str]:
    """Return a text of one line in lines of data; `lead` is what its first line begins with: spaces, a mark, a margin.

    >>> entry("once for each item, ten of them at most", "    ", 30)
    ['    once for each item, ten', '       of them at most']
    """
    further = " " * (_depth(lead) + GOES_ON)
    first, *others = broken(text, max(MIN_ROOM, width - max(len(lead), len(further))))
    return [f"{lead}{first}" if text else lead.rstrip(), *(further + other for other in others)]


def fitted_line(line: str, width: int, under: int | None = None) -> list[str]:
    """Return a line as lines of `width` columns; those that go on begin in column `under`, or below the line's own.

    >>> fitted_line("goal    find out who called and why", 30, under=8)
    ['goal    find out who called', '        and why']
    >>> fitted_line("  | find out who called and why", 28)
    ['  | find out who called and', '     why']
    """
    if columns(line) <= width:
        return [line]
    lead = line[:under] if under is not None else _lead(line)
    further = " " * (under if under is not None else _depth(lead) + GOES_ON)
    # However deep a line stands, some words fit beside its indent.
    first, *others = broken(line[len(lead) :], max(MIN_ROOM, width - max(len(lead), len(further))))
    return [lead + first, *(further + other for other in others)]


def broken(text: str, room: int) -> list[str]:
    """Break a text between its words, so that no letter of it is lost; a longer word is broken with a mark.

    >>> broken("at most ten", 8), broken("https://example.org/a/b", 14)
    (['at most', 'ten'], ['https://↩', 'example.org/↩', 'a/b'])
    """
    lines: list[str] = []
    # A mark of ours in words from outside would join two of their lines when they are laid out anew.
    for word in text.replace(BROKEN, escape(BROKEN)).split(" "):
        if lines and columns(lines[-1]) + 1 + columns(word) <= room:
            lines[-1] += f" {word}"
        else:
            lines += _pieces(word, room)
    return lines


def relaid(lines: Iterable[str], width: int) -> tuple[str, ...]:
    """Return lines of data laid out for another width."""
    return tuple(part for lead, text in _wholes(lines) for part in entry(text, lead, width))


def _wholes(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Return what each line of ours begins with, and its text with all lines that go on."""
    wholes: list[tuple[str, str]] = []
    for line in lines:
        # No line of ours begins this far in, and lines with words from outside have a mark or a margin before them.
        if wholes and line.startswith(further := " " * (_depth(wholes[-1][0]) + GOES_ON)):
            lead, text = wholes.pop()
            part = line.removeprefix(further)
            text = text.removesuffix(BROKEN) + part if text.endswith(BROKEN) else f"{text} {part}"
        else:
            lead = _lead(line)
            text = line.removeprefix(lead)
        wholes.append((lead, text))
    return wholes


def _lead(line: str) -> str:
    """Return what a line begins with: spaces, a mark, a margin."""
    return str(_LEAD.match(line)[0])  # type: ignore[index]


def _depth(lead: str) -> int:
    """Return the column at which a line's own lines may begin, two before the next level."""
    return len(lead) if lead.endswith(ITEM) else len(lead) - len(lead.lstrip(" "))


def _pieces(word: str, room: int) -> Iterator[str]:
    while columns(word) > room:
        end = max(1, fitting(word, room - 1))
        # Break after a mark if one is near, so that parts of an address stay whole.
        end = max(word.rfind(mark, end // 2, end) for mark in "/,;:&?=.-_)}]") + 1 or end
        yield f"{word[:end]}{BROKEN}"
        word = word[end:]
    yield word
