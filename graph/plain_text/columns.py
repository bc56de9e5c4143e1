"""Plain texts in the columns of a terminal: how many they take, and how they are cut to fit."""

import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

from planner_executor.graph.plain_text.sanitize import is_mark

Measure = Callable[[str], float]

SHORT = 4
"""At most so many columns of what is no word, such as a URL, are left out so that the cut is between words."""


def columns(text: str) -> int:
    """Return how many terminal columns a plain text takes.

    >>> columns("plan"), columns("計画")
    (4, 4)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def cut(text: str, room: float, measure: Measure = columns) -> str:
    """Return the text, or the beginning that fits before an ellipsis.

    >>> cut("offshore wind", 9)
    'offshore…'
    """
    if measure(text) <= room:
        return text
    return text[: fitting(text, room - measure("…"), measure)].rstrip() + "…"


def cut_middle(text: str, room: float, measure: Measure = columns) -> str:
    """Return the text, or its beginning and its end around an ellipsis, so that texts with different ends differ.

    >>> cut_middle("offshore_wind_north", 11)
    'offsh…north'
    """
    if measure(text) <= room:
        return text
    end = _ending(text, (room - measure("…")) / 2, measure)
    start = fitting(text, room - measure("…") - measure(end), measure)
    return f"{text[:start].rstrip()}…{end.lstrip()}"


def cut_words(text: str, room: float) -> str:
    """Return the text, or the first and last words that fit around an ellipsis; what is no word is cut itself.

    >>> cut_words("find out what the documents say", 18)
    'find out … say'
    >>> cut_words('fetch url="https://example.org/a/b"', 24)
    'fetch url="h…le.org/a/b"'
    """
    if columns(text) <= room:
        return text
    around = room - columns(" … ")
    tail = _last_words(text, around / 2)
    head = _first_words(text, around - columns(tail or _ending(text, around / 2)))
    # What the beginning left of its half goes to the end.
    tail = _last_words(text, around - columns(head)) if head else tail
    if head and tail:
        return f"{head} … {tail}"
    if head:
        return f"{head} …{_ending(text, around + 1 - columns(head)).lstrip()}"
    return f"{text[: fitting(text, around + 1 - columns(tail))].rstrip()}… {tail}" if tail else cut_middle(text, room)


def fitting(text: str, room: float, measure: Measure = columns) -> int:
    """Return how many letters of the text fit."""
    if measure is columns and text.isascii():
        return min(len(text), max(0, int(room)))
    # Marks take no column, but four at most stand on a letter: more letters than this never fit.
    most = min(len(text), 8 * max(0, int(room)) + 8)
    return max(0, bisect_right(range(most + 1), room, key=lambda end: measure(text[:end])) - 1)


def _ending(text: str, room: float, measure: Measure = columns) -> str:
    """Return the end of a text that fits; no mark is parted from its letter."""
    length = fitting(text[::-1], room, measure)
    while length and is_mark(text[len(text) - length]):
        length -= 1
    return text[len(text) - length :]


def _first_words(text: str, room: float) -> str:
    """Return the whole words at the beginning that fit; none if that leaves out much that is no word, as of a URL."""
    length = fitting(text, room)
    part = text[:length]
    if part.endswith(" ") or text[length : length + 1] == " ":
        return part.strip()
    words, _, rest = part.rpartition(" ")
    return words.strip() if rest.isalpha() or columns(rest) <= SHORT else ""


def _last_words(text: str, room: float) -> str:
    """Return the whole words at the end that fit; see `_first_words`."""
    return _first_words(text[::-1], room)[::-1]


@lru_cache(maxsize=4096)
def _columns(letter: str) -> int:
    if unicodedata.east_asian_width(letter) in "WF":
        return 2
    return 0 if is_mark(letter) else 1
