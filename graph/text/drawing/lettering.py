"""Widths of letters without a font: rather too wide than too narrow."""

from functools import lru_cache

from planner_executor.graph.plain_text.columns import Measure, columns, cut, cut_middle, fitting

MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
SANS = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"

_EM = {
    **dict.fromkeys("ijl|'.,:;!", 0.28),
    **dict.fromkeys(' ftrI()[]/\\-"`{}', 0.36),
    **dict.fromkeys("mwMW@%", 0.92),
}


def mono(size: float) -> Measure:
    """Return a measure for text in a fixed-width font, in pixels."""
    return lambda text: columns(text) * size * 0.605


def sans(size: float) -> Measure:
    """Return a measure for text in a proportional font, in pixels."""
    return lambda text: sum(map(_em, text)) * size


def wrapped(text: str, room: float, lines: int, measure: Measure) -> list[str]:
    """Break a plain text into at most `lines` lines of `room` pixels; the last one is cut if need be.

    A word is broken only if it is longer than a line.

    >>> wrapped("Find what the documents say", 11, 2, len)
    ['Find what', 'the docume…']
    >>> wrapped("an enormous plan", 9, 3, len)
    ['an', 'enormous', 'plan']
    """
    broken: list[str] = []
    # A letter is wider than a pixel, so no more than this can fit:
    # objectives are of any length and are not measured whole.
    rest = text[: lines * int(room)]
    while len(broken) < lines - 1 and measure(rest) > room:
        # One letter at least, else a place narrower than a letter would never be left.
        end = max(1, fitting(rest, room, measure))
        space = rest.rfind(" ", 1, end + 1)
        word = rest[space + 1 :].partition(" ")[0]
        end = space if space > 0 and measure(word) <= room else end
        broken.append(rest[:end])
        rest = rest[end:].lstrip()
    return [*broken, cut(rest, room, measure)]


def word_lines(text: str, room: int, lines: int) -> list[str]:
    """Break a plain text between words into at most `lines` lines of `room` columns; at least two lines.

    Omissions are in the middle of the text, and in the middle of a word that is longer than a line.

    >>> word_lines("Find what the old documents say about wind", 12, 4)
    ['Find what', 'the old', '… say about', 'wind']
    """
    broken = filled(text, room)
    if len(broken) <= lines:
        return broken
    broken = filled(text, room - 2)
    tail = broken[-(lines // 2) :]
    return [*broken[: lines - len(tail)], f"… {tail[0]}", *tail[1:]]


def filled(text: str, room: int) -> list[str]:
    """Break a plain text between words into lines of `room` columns; a longer word loses its middle."""
    filled: list[str] = []
    used = room
    for word in text.split(" "):
        part = cut_middle(word, room)
        wide = columns(part)
        if used + 1 + wide <= room:
            filled[-1] += f" {part}"
            used += 1 + wide
        else:
            filled.append(part)
            used = wide
    return filled


@lru_cache(maxsize=4096)
def _em(letter: str) -> float:
    if letter in _EM:
        return _EM[letter]
    if columns(letter) != 1:
        return 0.55 * columns(letter)
    return 0.72 if letter.isupper() else 0.58
