"""The positions of references in a text, found in one pass and in linear time."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from planner_executor.graph.plan.expression_roots import names_in, roots_of

_HEAD = re.compile(r"\{([A-Za-z][A-Za-z0-9_]*)_result(?![A-Za-z0-9_])")
_PARAM = re.compile(r"\{param\.([A-Za-z][A-Za-z0-9_]*)")
_QUOTED = r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|`(?:[^`\\]|\\.)*+`"""
_INNERMOST = re.compile(rf"""\{{(?!\s)((?:[^{{}}"'`\\]++|{_QUOTED})*+)\}}""", re.DOTALL)
"""Braces without braces in them, but within quotes."""
_PLAIN_BRACES = re.compile(r"\{[^{}]*+\}")
_SPECIAL = re.compile(r"""[}"'`\\]""")
_QUOTES = "\"'`"


class Span(NamedTuple):
    """A `{<step>_result<path>}`, or a `{param.<name><path>}` if `is_param`, from `start` to `stop`, braces included.

    `is_literal` if a second pair of braces escapes it; `dollars` counts the `$` directly before it. `expression` is the
    text in the braces if it uses another result too, or begins with something else.
    """

    start: int
    stop: int
    step: str
    path: str
    is_literal: bool
    dollars: int
    expression: str = ""
    is_param: bool = False

    @property
    def ends(self) -> tuple[int, int]:
        """Start and stop with the doubled braces or the dollars included."""
        return self.start - self.is_literal - self.dollars, self.stop + self.is_literal


def spans(text: str, *, with_params: bool = False) -> Iterator[Span]:
    """Yield the references of a text, escaped ones included, from left to right; in a plan with parameters those too.

    >>> [(span.step, span.path, span.is_literal) for span in spans("{a_result.x} {{b_result}} {c")]
    [('a', '.x', False), ('b', '', True)]
    """
    if "_result" not in text and not (with_params and "{param." in text):
        return
    end = 0
    for start, stop, step, path, expression, is_param in _found(text, with_params):
        # A `{` that belongs to the span before cannot escape this one, hence `start > end`.
        is_literal = start > end and text[start - 1] == "{" and text[stop : stop + 1] == "}"
        yield Span(start, stop, step, path, is_literal, _dollars_before(text, start, end), expression, is_param)
        end = stop


def _found(text: str, with_params: bool) -> Iterator[tuple[int, int, str, str, str, bool]]:
    """Yield start, stop, step, path and expression of each reference, and whether it is a parameter."""
    closing, position = _Closing(text), 0
    while (start := text.find("{", position)) >= 0:
        position = start + 1
        if head := _HEAD.match(text, start):
            if (stop := closing.after(head.end())) is not None:
                path = text[head.end() : stop - 1]
                used = roots_of(text[start + 1 : stop - 1]) if "_result" in path else None
                is_one = used is None or set(used.results) <= {head[1]}
                yield start, stop, head[1], path, "" if is_one else text[start + 1 : stop - 1], False
                position = stop
        elif with_params and (head := _PARAM.match(text, start)):
            if (stop := closing.after(head.end())) is not None:
                yield start, stop, head[1], text[head.end() : stop - 1], "", True
                position = stop
        # What begins with a space is in the notation of a template language, see `graph.plan.lookalikes`.
        elif (inner := _INNERMOST.match(text, start)) and (used := roots_of(inner[1])) and used.results:
            yield start, inner.end(), used.results[0], "", inner[1], False
            position = inner.end()


class Braces(NamedTuple):
    """A `{...}` with names of results, outside quotes, for which nothing is filled in."""

    written: str
    names: tuple[str, ...]
    is_reference: bool


def bare_names(text: str) -> Iterator[Braces]:
    """Yield each innermost `{...}` in which a name of a result stands where it is not looked up.

    >>> [(found.written, *found.names) for found in bare_names("{a_result} {x: a_result} {a_result[?n == b_result]}")]
    [('{a_result[?n == b_result]}', 'b'), ('{x: a_result}', 'a')]
    """
    if "_result" not in text:
        return
    rest, end = [], 0
    for span in spans(text):
        rest.append(text[end : span.start])
        end = span.stop
        is_plain = span.is_literal or not ("_result" in span.path or span.expression)
        used = None if is_plain else roots_of(text[span.start + 1 : span.stop - 1])
        if used is not None and used.misplaced:
            yield Braces(text[span.start : span.stop], used.misplaced, is_reference=True)
    # A NUL between the parts: braces must not close over a reference that was taken out.
    for braces in _PLAIN_BRACES.finditer("\0".join([*rest, text[end:]])):
        if names := names_in(braces[0]):
            yield Braces(braces[0], names, is_reference=False)


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
