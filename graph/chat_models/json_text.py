"""JSON from a model's text: fenced, introduced by words, after its thoughts, or nearly JSON."""

import json
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from graph.chat_models.lenient_json import closing, lenient_json

MOST_TRIES = 100
"""How many brackets of a text are looked at; each may cost a walk over the rest of it."""

NEAR_CHARACTERS = 20
"""How much of the text on either side of a fault is quoted."""

_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHTS_BEGAN_BEFORE = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(r"""[{\[](?=\s*(?:["'{\[\]}/#-]|\d|[A-Za-z_]\w*\s*[:,\]]))""")
_THOUGHTS_FIRST = re.compile(r"(?:<(think|thinking|reasoning)>.*?</\1>\s*)+", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```\w*\s(.*)```", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)


class NoJson(ValueError):
    """The text holds no JSON object or list, or one that is cut off or cannot be read."""


def after_thoughts(text: str) -> str:
    """Return a model's answer without the thoughts that it begins with.

    >>> after_thoughts("<think>A capital, so...</think> Paris")
    'Paris'
    """
    said = text.strip()
    thoughts = _THOUGHTS_FIRST.match(said)
    return said[thoughts.end() :] if thoughts else said


def value_from(text: str) -> Any:
    """Return the JSON value that a model's answer is, a number or a text too, else the object or list in it.

    Raises:
        NoJson: There is none, or it is cut off or cannot be read; the message says which.

    >>> value_from("```json\\n42\\n```"), value_from("True"), value_from("It is {'n': 1}.")
    (42, True, {'n': 1})
    """
    for read in (json.loads, lenient_json):
        with suppress(ValueError, RecursionError):
            return read(_unfenced(text))
    return json_from(text)


def json_from(text: str, keys: Collection[str] = ()) -> Any:
    """Return the JSON object or list in a model's answer: the largest one that stands in the text.

    Args:
        text: The whole answer; thoughts in it are left out.
        keys: What is looked for has one of these keys, or is a list of objects; others only where there is none.

    Raises:
        NoJson: There is none, or it is cut off or cannot be read; the message says which.

    >>> json_from('Here it is: {"steps": []} as you asked')
    {'steps': []}
    """
    whole = _whole(text)
    if isinstance(whole, dict | list):
        return whole
    found = _search(_without_thoughts(text), keys)
    if wanted := [piece for piece in found.pieces if piece.wanted]:
        return max(wanted, key=lambda piece: piece.size).value
    if found.fault:
        raise NoJson(f"the JSON in the answer {found.fault}")
    if not found.pieces:
        raise NoJson("the answer holds no JSON object")
    return max(found.pieces, key=lambda piece: piece.size).value


def objects_with(key: str, text: str) -> list[dict[str, Any]]:
    """Return all JSON objects in a model's answer, its thoughts left out, that have a key.

    >>> objects_with("met", 'Not {"met": true}, but {"met": false}.')
    [{'met': True}, {'met': False}]
    """
    found = _search(_without_thoughts(text), (key,))
    return [piece.value for piece in found.pieces if _has(piece.value, (key,))]


@dataclass(frozen=True)
class _Piece:
    value: Any
    size: int
    wanted: bool


@dataclass
class _Search:
    """Objects and lists in a text, and what is wrong with the first one that cannot be used."""

    pieces: list[_Piece] = field(default_factory=list)
    fault: str = ""


def _whole(text: str) -> Any:
    """Return the value of an answer that, after its thoughts, is JSON and nothing else: tags within it are its own."""
    with suppress(ValueError, RecursionError):
        return json.loads(_unfenced(text), strict=False)
    return None


def _unfenced(text: str) -> str:
    said = after_thoughts(text)
    fenced = _FENCED.fullmatch(said)
    return fenced[1].strip() if fenced else said


def _without_thoughts(text: str) -> str:
    return _THOUGHTS_BEGAN_BEFORE.sub("", _THOUGHTS.sub("", text))


def _search(text: str, keys: Collection[str]) -> _Search:
    found = _Search()
    position = broken_until = 0
    for _ in range(MOST_TRIES):
        if (opening := _OPENING.search(text, position)) is None:
            break
        start = opening.start()
        value, end, fault = _read(text, start)
        if end is None:
            found.fault = found.fault or fault
            break
        if fault:  # what stands inside something broken counts only where it is surely what is looked for
            found.fault = found.fault or fault
            broken_until, position = max(end, broken_until), start + 1
            continue
        inside = start < broken_until
        if not inside or _has(value, keys):
            wanted = _has(value, keys) or (not inside and _is_list_of_objects(value)) or not keys
            found.pieces.append(_Piece(value, end - start, wanted))
        position = end
    return found


def _read(text: str, start: int) -> tuple[Any, int | None, str]:
    """Return the value at `start`, where it ends (None if nowhere), and what is wrong with it."""
    try:
        return *_DECODER.raw_decode(text, start), ""
    except RecursionError:
        return None, None, "is nested too deep"
    except ValueError as error:
        place = getattr(error, "pos", start)
        near = text[max(start, place - NEAR_CHARACTERS) : place + NEAR_CHARACTERS]
        why = f"cannot be read: {getattr(error, 'msg', error)}, near {near!r}"
    end = closing(text, start)
    if end is None:
        return None, None, "is not closed; it may be cut off"
    try:
        return lenient_json(text[start:end]), end, ""
    except ValueError:
        return None, end, why


def _has(value: Any, keys: Collection[str]) -> bool:
    return isinstance(value, dict) and any(key in value for key in keys)


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
