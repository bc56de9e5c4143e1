"""Words of an error for places that may hold no argument, no result and no key."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from planner_executor.graph.plain_text.sanitize import one_line

CHARACTERS = 200
SHORTEST = 3
"""Shorter words of an argument stay: they would be found in every sentence."""
MASK = "…"

_QUOTED = re.compile(r"""'[^']*'?|"[^"]*"?|`[^`]*`?""")
_TELLING = re.compile(r"\S*[\d@/\\={}<>]\S*|\S{31,}")
_WORD = re.compile(r"\w+")


def words_of(value: Any) -> Iterator[str]:
    """Yield the words in JSON, keys left out."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from words_of(item)
    elif value is not None and not isinstance(value, bool):
        yield from (word.lower() for word in _WORD.findall(str(value)) if len(word) >= SHORTEST)


def masked(error: str, hidden: frozenset[str] = frozenset()) -> str:
    """Return the first line of an error without what is quoted, numbers, addresses, paths, and the `hidden` words.

    >>> masked("ConnectionError: no route to 'host-7' for alice", frozenset({"alice"}))
    'ConnectionError: no route to … for …'
    """
    # Cut before the patterns are searched: an error may hold a whole page.
    first = next(iter(error.splitlines()), "")[: 10 * CHARACTERS]
    kept = _TELLING.sub(MASK, _QUOTED.sub(MASK, first))
    return one_line(_WORD.sub(lambda found: MASK if found[0].lower() in hidden else found[0], kept), CHARACTERS)
