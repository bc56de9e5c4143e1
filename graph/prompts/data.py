"""Results in prompts: compact, bounded, and as JSON, so that no text in them can pass for instructions."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.prompts.media import media_named
from planner_executor.graph.record.values import to_text

PREVIEW_CHARACTERS = 600
RESULT_CHARACTERS = 20_000
"""Number of characters of a result in the prompt of a dependent step."""


def cut(text: str, most: int) -> str:
    """Return the text, shortened to at most `most` characters.

    >>> cut("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def result_shown(text: str, most: int = RESULT_CHARACTERS) -> str:
    """Return a result, or its beginning and the number of omitted characters.

    >>> result_shown("a" * 20_010)[-40:]
    'aaaa… (10 more characters are not shown)'
    """
    more = len(text) - most
    return text if more <= 0 else f"{text[:most]}… ({more} more characters are not shown)"


def bounded(value: JsonValue, most: int, shorten: Callable[[str, int], str] = cut) -> JsonValue:
    """Return a value with its media named; if its JSON text is longer than `most`, that text, shortened.

    A text of JSON in a prompt's JSON would have each of its quotes quoted again.

    >>> bounded({"n": 1}, 10), bounded({"n": "abcdef"}, 10)
    ({'n': 1}, '{"n":"abc…')
    """
    named = media_named(value)
    # Named first: the bytes of a picture alone would exceed any limit.
    text = to_text(named)
    return named if len(text) <= most else shorten(text, most)


def as_json(document: Mapping[str, Any], kept: str = "") -> str:
    """Return a document as the text of a message, without empty entries, except the one named `kept`."""
    found = {key: value for key, value in document.items() if key == kept or value not in (None, [], {}, "")}
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))
