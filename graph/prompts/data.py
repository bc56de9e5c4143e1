"""Results in prompts: compact, bounded, and as JSON, so that no text in them can pass for instructions."""

import json
from collections.abc import Mapping
from typing import Any

PREVIEW_CHARACTERS = 600
RESULT_CHARACTERS = 20_000
"""Number of characters of a result in the prompt of a dependent step."""


def cut(text: str, most: int) -> str:
    """Return the text, shortened to at most `most` characters.

    >>> cut("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def result_shown(text: str) -> str:
    """Return a result, or its beginning and the number of omitted characters.

    >>> result_shown("a" * 20_010)[-40:]
    'aaaa… (10 more characters are not shown)'
    """
    more = len(text) - RESULT_CHARACTERS
    return text if more <= 0 else f"{text[:RESULT_CHARACTERS]}… ({more} more characters are not shown)"


def as_json(document: Mapping[str, Any]) -> str:
    """Return a document as the text of a message, without empty entries."""
    return json.dumps(
        {key: value for key, value in document.items() if value not in (None, [], {}, "")}, ensure_ascii=False
    )
