"""Scanning a model's text for JSON values: fenced, between words, next to thoughts, or almost JSON (decision 0015).

The text is scanned once, front to back. Values inside thoughts or inside unreadable JSON never count.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from planner_executor.graph.chat_models.brackets import (
    ONE_TOO_FEW,
    ONE_TOO_MANY,
    Brackets,
    extra_at,
    repair_brackets,
    walk,
)
from planner_executor.graph.chat_models.lenient_json import (
    MAX_DEPTH,
    TOO_DEEP,
    Lenient,
    LenientError,
    lenient_json,
    read_lenient,
)
from planner_executor.graph.chat_models.thoughts import (
    CHANNEL,
    TAG,
    TURN,
    bare_final,
    channel_end,
    is_end,
    thoughts_end,
)
from planner_executor.graph.plan.depth import is_deep
from planner_executor.graph.plan.fragments import is_sketch
from planner_executor.graph.plan.unique_keys import unique_keys

NEAR_CHARACTERS = 20
"""Characters quoted on each side of a fault."""

MAX_STRICT_FAULTS = 50
"""Failures of Python's parser per text, at most: each one counts the lines before the fault, which is quadratic."""

_OBJECT = r"\{(?=\s*(?:[\"'}]|//|/\*|\#|[A-Za-z_]\w*\s*[:：]))"  # noqa: RUF001  (full-width signs are meant)
_LIST = r"\[(?=\s*(?:[\"'{\[\](]|//|/\*|\#|-?\d|(?:true|false|null|True|False|None)\b))"
_MARK = re.compile(
    rf"(?P<tag>{TAG})|(?P<head>{CHANNEL})|(?P<speaker>{TURN})|(?P<json>{_OBJECT}|{_LIST})", re.IGNORECASE
)
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=unique_keys)


@dataclass(frozen=True)
class Piece:
    """A JSON value in a text, with notes on its deviations from JSON; `lead` are the words since the one before it."""

    value: Any
    notes: tuple[str, ...] = ()
    lead: str = ""

    @property
    def is_closed(self) -> bool:
        """Whether its end is in the text, and was not put in."""
        return ONE_TOO_FEW not in self.notes


@dataclass(frozen=True)
class Broken:
    """A part of a text that looks like JSON but cannot be parsed, and why."""

    text: str
    fault: str

    def mentions(self, key: str) -> bool:
        """Whether it has the key and is not just a sketch of the form."""
        return bool(re.search(rf"""["'{{,\s]{key}["']?\s*[:：]""", self.text)) and not is_sketch(self.text)  # noqa: RUF001


@dataclass
class ScanResult:
    """JSON values of a text outside thoughts, in order, and the words between them."""

    pieces: list[Piece] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    thoughts: bool = False
    strict_faults: int = 0


def scan(text: str) -> ScanResult:
    """Return the objects and lists of a text outside thoughts, and the unreadable ones.

    An end of thoughts without a beginning, and the first final channel, turn all text before them into thoughts.
    """
    position = bare_final(text)
    found, final = ScanResult(thoughts=position > 0), False
    while mark := _MARK.search(text, position):
        found.words.append(text[position : mark.start()])
        if mark["json"]:
            position = _take(text, mark.start(), found)
            continue
        position = mark.end()
        if mark["tag"] and not is_end(mark):
            position, found.thoughts = thoughts_end(text, mark), True
        elif mark["tag"] or (mark["head"] and mark["channel"].lower() == "final" and not final):
            # Everything before was thought: start over (decision 0027).
            found, final = ScanResult(thoughts=True, strict_faults=found.strict_faults), final or not mark["tag"]
        elif (mark["head"] and mark["channel"].lower() != "final") or mark["turn"] not in (None, "", "assistant"):
            position, found.thoughts = channel_end(text, position), True
    found.words.append(text[position:])
    return found


def distinct(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces without duplicates."""
    return list({json.dumps(piece.value, sort_keys=True): piece for piece in reversed(pieces)}.values())[::-1]


def _take(text: str, start: int, found: ScanResult) -> int:
    """Parse the value at `start` into `found`, and return the index to continue from."""
    try:
        read = _read(text, start, found)
    except LenientError as error:
        met = walk(text, start)
        # Repair only an unclosed value; a closed one with a fault inside stays broken (decision 0015).
        if not met.closed and (better := repair_brackets(text, start, met, lenient_json)):
            found.pieces.append(Piece(better[0], (better[1],), found.words[-1]))
            return _fence(text, met.end)
        end = met.end if met.closed else _fence(text, met.end)
        found.broken.append(Broken(text[start:end], _fault(text, error, met)))
        return end
    notes = [f"the JSON was written with {note}" for note in read.notes]
    notes += [ONE_TOO_MANY] if extra_at(text, read.end) else []
    found.pieces.append(Piece(read.value, tuple(notes), found.words[-1]))
    return read.end


def _read(text: str, start: int, found: ScanResult) -> Lenient:
    if found.strict_faults < MAX_STRICT_FAULTS:
        with suppress(ValueError, RecursionError):
            value, end = _DECODER.raw_decode(text, start)
            if not is_deep(value, MAX_DEPTH):
                return Lenient(value, end, ())
        # Its fault is found once more by the lenient reader, which counts no lines.
        found.strict_faults += 1
    return read_lenient(text, start)  # its errors name the fault


def _fault(text: str, error: LenientError, met: Brackets) -> str:
    if str(error) == TOO_DEEP:
        return TOO_DEEP
    if error.at_end and met.end >= len(text):
        return "is not closed; it may be cut off"
    near = text[max(0, error.position - NEAR_CHARACTERS) : error.position + NEAR_CHARACTERS]
    return f"cannot be read: {error}, near {near!r}"


def _fence(text: str, position: int) -> int:
    """Return the index of the next fence, after which scanning can resume."""
    fence = text.find("```", position)
    return len(text) if fence < 0 else fence
