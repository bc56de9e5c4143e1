"""The JSON of a model's answer, if it has one: of several different values none is picked (decision 0015)."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from graph.chat_models.json_scan import Broken, Piece, ScanResult, distinct, scan
from graph.chat_models.lenient_json import lenient_json
from graph.chat_models.thoughts import after_thoughts

_FENCED = re.compile(r"```\w*\s(.*)```", re.DOTALL)


class NoJson(ValueError):
    """The text contains no JSON value, several, or one that is truncated or unreadable, as the message states."""


def value_from(text: str) -> Any:
    """Return the JSON value of an answer: the whole answer, if it is a scalar, else the object or list in it.

    Raises:
        NoJson: There is no value, several, or one that is truncated or unreadable.

    >>> value_from("```json\\n42\\n```"), value_from("True"), value_from("It is {'n': 1}.")
    (42, True, {'n': 1})
    """
    answer = after_thoughts(text)
    fenced = _FENCED.fullmatch(answer)
    with suppress(ValueError):
        value = lenient_json(fenced[1].strip() if fenced else answer)
        if not isinstance(value, dict | list):
            return value
    return json_from(text)


def json_from(text: str) -> Any:
    """Return the single JSON object or list in an answer; repetitions of a value count once.

    Raises:
        NoJson: There is no value, several, or one that is truncated or unreadable.

    >>> json_from('Here it is: {"steps": []} as you asked')
    {'steps': []}
    """
    found = scan(text)
    pieces = distinct([piece for piece in found.pieces if not _is_aside(piece.value)] or found.pieces)
    if found.broken or not pieces:
        raise _missing(found)
    if len(pieces) > 1:
        raise NoJson(f"the answer holds {len(pieces)} differing JSON values; give one")
    return pieces[0].value


def pieces_from(text: str, wanted: Callable[[Any], bool], keys: Sequence[str]) -> list[Piece]:
    """Return the different JSON values of the wanted kind in an answer, usually one (decision 0027).

    If no value is of that kind and there is one other value, return that, so that the caller can report its faults.

    Args:
        text: The whole answer.
        wanted: Whether a value is of the wanted kind.
        keys: Keys that identify an unreadable value as one of that kind.

    Raises:
        NoJson: There is no value, or one of the wanted kind is truncated or unreadable.
    """
    found = scan(text)
    pieces = distinct([piece for piece in found.pieces if wanted(piece.value)])
    if any(broken.mentions(keys) for broken in found.broken) or (found.broken and not pieces):
        raise NoJson(f"the JSON in the answer {_most_relevant(found.broken, keys).fault}")
    if pieces:
        return pieces
    others = distinct([piece for piece in found.pieces if not _is_aside(piece.value)] or found.pieces)
    if not others:
        raise _missing(found)
    if len(others) > 1:
        raise NoJson(f"the answer holds {len(others)} differing JSON values, and none of them is what is asked for")
    return others


def objects_with(key: str, text: str) -> list[dict[str, Any]]:
    """Return all JSON objects with a key in an answer, thoughts excluded.

    If an object with that key is unreadable, return none: the readable ones may be mere quotations.

    >>> objects_with("met", 'Not {"met": true}, but {"met": false}.')
    [{'met': True}, {'met': False}]
    """
    found = scan(text)
    if any(broken.mentions((key,)) for broken in found.broken):
        return []
    return [piece.value for piece in found.pieces if isinstance(piece.value, dict) and key in piece.value]


def _most_relevant(broken: Sequence[Broken], keys: Sequence[str]) -> Broken:
    return next((part for part in broken if part.mentions(keys)), broken[0])


def _is_aside(value: Any) -> bool:
    """Whether a value is likely part of prose: empty brackets, or footnote numbers."""
    return not value or (isinstance(value, list) and all(isinstance(item, int) for item in value))


def _missing(found: ScanResult) -> NoJson:
    """Return the error to raise if there is no value."""
    if found.broken:
        return NoJson(f"the JSON in the answer {found.broken[0].fault}")
    return NoJson("the answer holds no JSON object" + (" beside its thoughts" if found.thoughts else ""))
