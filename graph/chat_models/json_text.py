"""JSON from a model's text: fenced, between words, beside its thoughts, or nearly JSON.

The text is read once, from its beginning to its end. What stands in thoughts or in JSON that cannot be read is never
taken for the answer, and an answer that holds several differing values is never chosen from.
"""

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from graph.chat_models.brackets import ONE_TOO_MANY, Brackets, extra_at, mended, walk
from graph.chat_models.lenient_json import MAX_DEPTH, TOO_DEEP, Lenient, LenientError, lenient_json, read_lenient
from graph.chat_models.thoughts import (
    CHANNEL,
    TAG,
    TURN,
    after_thoughts,
    bare_final,
    channel_end,
    is_end,
    thoughts_end,
)
from graph.plan.unique_keys import unique_keys

NEAR_CHARACTERS = 20
"""How much of the text on either side of a fault is quoted."""

MOST_STRICT_FAULTS = 50
"""How often Python's own reader may fail in one text: it counts the lines before each fault."""

_FENCED = re.compile(r"```\w*\s(.*)```", re.DOTALL)
_OBJECT = r"\{(?=\s*(?:[\"'}]|//|/\*|\#|[A-Za-z_]\w*\s*[:：]))"  # noqa: RUF001  (full-width signs are meant)
_LIST = r"\[(?=\s*(?:[\"'{\[\](]|//|/\*|\#|-?\d|(?:true|false|null|True|False|None)\b))"
_MARK = re.compile(
    rf"(?P<tag>{TAG})|(?P<head>{CHANNEL})|(?P<speaker>{TURN})|(?P<json>{_OBJECT}|{_LIST})", re.IGNORECASE
)
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=unique_keys)
_SKETCH = re.compile(r"[\[,:]\s*(?:\.\.\.|…)")


class NoJson(ValueError):
    """The text holds no JSON, or several values, or one that is cut off or cannot be read; the message says which."""


@dataclass(frozen=True)
class Piece:
    """A JSON value in a text, and how it was written other than as JSON, in sentences."""

    value: Any
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Broken:
    """A part of a text that looks like JSON and cannot be read, and why."""

    text: str
    fault: str

    def mentions(self, keys: Sequence[str]) -> bool:
        """Whether it has one of the keys and is no mere sketch of a format, with an ellipsis in place of values."""
        key = rf"""["'{{,\s](?:{"|".join(keys)})["']?\s*[:：]"""  # noqa: RUF001
        return bool(re.search(key, self.text)) and not _SKETCH.search(self.text)


@dataclass
class Found:
    """What a text holds outside thoughts, in its order."""

    pieces: list[Piece] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    thoughts: bool = False
    strict_faults: int = 0

    @property
    def none(self) -> NoJson:
        """Why there is nothing to take."""
        if self.broken:
            return NoJson(f"the JSON in the answer {self.broken[0].fault}")
        return NoJson("the answer holds no JSON object" + (" beside its thoughts" if self.thoughts else ""))


def value_from(text: str) -> Any:
    """Return the JSON value that a model's answer is, a number or a text too, else the object or list in it.

    Raises:
        NoJson: There is none, there are several, or it is cut off or cannot be read; the message says which.

    >>> value_from("```json\\n42\\n```"), value_from("True"), value_from("It is {'n': 1}.")
    (42, True, {'n': 1})
    """
    said = after_thoughts(text)
    fenced = _FENCED.fullmatch(said)
    with suppress(ValueError):
        value = lenient_json(fenced[1].strip() if fenced else said)
        if not isinstance(value, dict | list):
            return value
    return json_from(text)


def json_from(text: str) -> Any:
    """Return the one JSON object or list in a model's answer; a value that is repeated counts once.

    Raises:
        NoJson: There is none, there are several, or it is cut off or cannot be read; the message says which.

    >>> json_from('Here it is: {"steps": []} as you asked')
    {'steps': []}
    """
    found = look_through(text)
    pieces = distinct([piece for piece in found.pieces if not _is_aside(piece.value)] or found.pieces)
    if found.broken or not pieces:
        raise found.none
    if len(pieces) > 1:
        raise NoJson(f"the answer holds {len(pieces)} differing JSON values; give one")
    return pieces[0].value


def pieces_from(text: str, wanted: Callable[[Any], bool], keys: Sequence[str]) -> list[Piece]:
    """Return the differing JSON values of a model's answer that are of the kind that is looked for, mostly one.

    If none is of that kind, the only other value is returned: what is wrong with it is for its reader to say.

    Args:
        text: The whole answer.
        wanted: Whether a value is of the kind that is looked for.
        keys: Keys by which one that cannot be read is known to be of that kind.

    Raises:
        NoJson: There is none, or one that is cut off or cannot be read; the message says which.
    """
    found = look_through(text)
    pieces = distinct([piece for piece in found.pieces if wanted(piece.value)])
    if any(broken.mentions(keys) for broken in found.broken) or (found.broken and not pieces):
        raise NoJson(f"the JSON in the answer {_telling(found.broken, keys).fault}")
    if pieces:
        return pieces
    others = distinct([piece for piece in found.pieces if not _is_aside(piece.value)] or found.pieces)
    if not others:
        raise found.none
    if len(others) > 1:
        raise NoJson(f"the answer holds {len(others)} differing JSON values, and none of them is what is asked for")
    return others


def objects_with(key: str, text: str) -> list[dict[str, Any]]:
    """Return all JSON objects in a model's answer, its thoughts left out, that have a key.

    There is none if something with that key cannot be read: the others might only be quotations.

    >>> objects_with("met", 'Not {"met": true}, but {"met": false}.')
    [{'met': True}, {'met': False}]
    """
    found = look_through(text)
    if any(broken.mentions((key,)) for broken in found.broken):
        return []
    return [piece.value for piece in found.pieces if isinstance(piece.value, dict) and key in piece.value]


def look_through(text: str) -> Found:
    """Return the objects and lists that stand in a text outside thoughts, and what cannot be read of them.

    At an end of thoughts without a beginning, and at the first final channel, all that was said before is thought.
    """
    position = bare_final(text)
    found, final = Found(thoughts=position > 0), False
    while mark := _MARK.search(text, position):
        if mark["json"]:
            position = _take(text, mark.start(), found)
            continue
        position = mark.end()
        if mark["tag"] and not is_end(mark):
            position, found.thoughts = thoughts_end(text, mark), True
        elif mark["tag"] or (mark["head"] and mark["channel"].lower() == "final" and not final):
            found, final = Found(thoughts=True, strict_faults=found.strict_faults), final or not mark["tag"]
        elif (mark["head"] and mark["channel"].lower() != "final") or _is_other(mark["turn"]):
            position, found.thoughts = channel_end(text, position), True
    return found


def distinct(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces without those that repeat another one."""
    return list({json.dumps(piece.value, sort_keys=True): piece for piece in reversed(pieces)}.values())[::-1]


def _take(text: str, start: int, found: Found) -> int:
    """Add what begins at `start` to what is found, and return where to look on."""
    try:
        read = _read(text, start, found)
    except LenientError as error:
        met = walk(text, start)
        if not met.closed and (better := mended(text, start, met, lenient_json)):
            found.pieces.append(Piece(better[0], (better[1],)))
            return _fence(text, met.end)
        end = met.end if met.closed else _fence(text, met.end)
        found.broken.append(Broken(text[start:end], _why(text, error, met)))
        return end
    notes = [f"the JSON was written with {note}" for note in read.notes]
    notes += [ONE_TOO_MANY] if extra_at(text, read.end) else []
    found.pieces.append(Piece(read.value, tuple(notes)))
    return read.end


def _read(text: str, start: int, found: Found) -> Lenient:
    if found.strict_faults < MOST_STRICT_FAULTS:
        with suppress(ValueError, RecursionError):
            value, end = _DECODER.raw_decode(text, start)
            if _depth(value) <= MAX_DEPTH:
                return Lenient(value, end, ())
        found.strict_faults += 1
    return read_lenient(text, start)  # it says what is wrong, too


def _why(text: str, error: LenientError, met: Brackets) -> str:
    if str(error) == TOO_DEEP:
        return TOO_DEEP
    if error.at_end and met.end >= len(text):
        return "is not closed; it may be cut off"
    near = text[max(0, error.position - NEAR_CHARACTERS) : error.position + NEAR_CHARACTERS]
    return f"cannot be read: {error}, near {near!r}"


def _telling(broken: Sequence[Broken], keys: Sequence[str]) -> Broken:
    return next((part for part in broken if part.mentions(keys)), broken[0])


def _fence(text: str, position: int) -> int:
    """Return where the next fence is: beyond it the text begins anew."""
    fence = text.find("```", position)
    return len(text) if fence < 0 else fence


def _is_other(turn: str | None) -> bool:
    return bool(turn) and turn != "assistant"


def _is_aside(value: Any) -> bool:
    """Whether a value is one that words hold too: nothing in brackets, or the numbers of notes."""
    return not value or (isinstance(value, list) and all(isinstance(item, int) for item in value))


def _depth(value: Any) -> int:
    """Return how deep a value is nested, at most one more than is allowed."""
    level, depth = [value], 0
    while depth <= MAX_DEPTH:
        level = [part for item in level if isinstance(item, dict | list) for part in _parts(item)]
        if not level:
            break
        depth += 1
    return depth


def _parts(value: dict[str, Any] | list[Any]) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value
