"""JSON from a model's text: fenced, introduced by words, or after its thoughts."""

import json
import re
from typing import Any

_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")


class NoJson(ValueError):
    """The text holds no JSON object or list."""


def json_from(text: str) -> Any:
    """Return the JSON object or list in a model's answer.

    The whole text, else the first fenced block that is JSON, else the largest object or list that stands in the text.

    Raises:
        NoJson: There is none.

    >>> json_from('Here it is: {"steps": []} as you asked')
    {'steps': []}
    """
    text = _THOUGHTS.sub("", text).strip()
    for candidate in (text, *(match[1] for match in _FENCE.finditer(text))):
        try:
            found = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict | list):
            return found
    return _largest(text)


def _largest(text: str) -> Any:
    decoder = json.JSONDecoder()
    best: tuple[int, Any] = (0, None)
    position = 0
    while opening := _OPENING.search(text, position):
        start = opening.start()
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = start + 1
            continue
        if end - start > best[0]:
            best = (end - start, found)
        position = end
    if not best[0]:
        raise NoJson("the answer holds no JSON object")
    return best[1]
