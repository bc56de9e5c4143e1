"""The positions of references in a text, found in one pass and in linear time."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

_HEAD = re.compile(r"\{([A-Za-z][A-Za-z0-9_]*)_result(?![A-Za-z0-9_])")
_SPECIAL = re.compile(r"""[}"'`\\]""")
_QUOTES = "\"'`"


@dataclass(frozen=True)
class Span:
    """A `{<step>_result<path>}` from `start` to `stop`, braces included.

    `is_literal` if a second pair of braces escapes it; `dollars` counts the `$` directly before it.
    """

    start: int
    stop: int
    step: str
    path: str
    is_literal: bool
    dollars: int

    @property
    def ends(self) -> tuple[int, int]:
        """Start and stop with the doubled braces or the dollars included."""
        return self.start - self.is_literal - self.dollars, self.stop + self.is_literal


def spans(text: str) -> Iterator[Span]:
    """Yield the references of a text, escaped ones included, from left to right.

    >>> [(span.step, span.path, span.is_literal) for span in spans("{a_result.x} {{b_result}} {c")]
    [('a', '.x', False), ('b', '', True)]
    """
    end, position = 0, 0
    closing: _Closing | None = None
    while head := _HEAD.search(text, position):
        closing = closing or _Closing(text)
        stop = closing.after(head.end())
        if stop is None:
            position = head.end()
            continue
        start = head.start()
        # A `{` that belongs to the span before cannot escape this one, hence `start > end`.
        is_literal = start > end and text[start - 1] == "{" and text[stop : stop + 1] == "}"
        dollars = _dollars_before(text, start, end)
        yield Span(start, stop, head[1], text[head.end() : stop - 1], is_literal, dollars)
        end = position = stop


def _dollars_before(text: str, start: int, end: int) -> int:
    return len(text[end:start]) - len(text[end:start].rstrip("$"))


class _Closing:
    """Finds the first `}` outside quotes after any position of a text.

    One pass from the last special character to the first records the closing brace for a scan that starts there outside
    quotes, and the end of each kind of quote. A new scan from every position would take quadratic time
    (docs/decisions/0028-references.md).
    """

    def __init__(self, text: str) -> None:
        self._places = [found.start() for found in _SPECIAL.finditer(text)]
        count = len(self._places)
        self._stops: list[int | None] = [None] * (count + 1)
        closed = {quote: [count] * (count + 2) for quote in _QUOTES}  # where each is closed, `count` if nowhere
        for number in range(count - 1, -1, -1):
            self._look(text, number, closed)

    def after(self, position: int) -> int | None:
        """Return the position after the brace, None if there is no such brace."""
        return self._stops[bisect_left(self._places, position)]

    def _look(self, text: str, number: int, closed: dict[str, list[int]]) -> None:
        letter, following = text[self._places[number]], number + 1
        escaped = following + (self._places[following : following + 1] == [self._places[number] + 1])
        for quote, ends in closed.items():
            ends[number] = number if letter == quote else ends[escaped if letter == "\\" else following]
        if letter == "}":
            self._stops[number] = self._places[number] + 1
        elif letter == "\\":
            self._stops[number] = self._stops[following]
        else:
            end = closed[letter][following]
            self._stops[number] = self._stops[min(end + 1, len(self._places))]
