"""JSON objects and lists inside a text.

A reference inside text is filled in as JSON, so `"# Brief {step_2_result}"` reaches a tool as text around an object.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

_START = re.compile(r'[\[{](?=\s{0,20}["\[{])')
_DECODER = json.JSONDecoder()
_MOST_TRIES = 300


def json_pieces(text: str) -> Iterator[tuple[str, dict[str, Any] | list[Any] | None]]:
    """Yield the pieces of the text in order, each with the object or list that it is, if any.

    >>> list(json_pieces('Brief: {"summary": "x"} end'))
    [('Brief: ', None), ('{"summary": "x"}', {'summary': 'x'}), (' end', None)]
    """
    written, position = 0, 0
    # Bounded, since each try may read the rest of the text: many brackets would take quadratic time.
    for _ in range(_MOST_TRIES):
        match = _START.search(text, position)
        if match is None:
            break
        start = match.start()
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = match.end()
            continue
        if text[written:start]:
            yield text[written:start], None
        yield text[start:end], value
        written = position = end
    if text[written:]:
        yield text[written:], None
