"""The JSON of a model's answer, if it has one: of several different values none is picked (decision 0015)."""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from planner_executor.graph.chat_models.json_scan import Piece, ScanResult, distinct, scan
from planner_executor.graph.chat_models.lenient_json import lenient_json
from planner_executor.graph.chat_models.thoughts import after_thoughts
from planner_executor.graph.plan.cannot import words_of
from planner_executor.graph.plan.fragments import PlanShape
from planner_executor.graph.plan.normalization import CANNOT

ONE_PLAN = "give one plan, with all its steps in one list"
_FENCED = re.compile(r"```\w*\s(.*)```", re.DOTALL)


class NoJson(ValueError):
    """The text contains no JSON value, several, or one that is truncated or unreadable, as the message states."""


def value_from(text: str) -> Any:
    """Return the JSON value of an answer: the whole answer, if it is one, else the object or list in it.

    Raises:
        NoJson: There is no value, several, or one that is truncated or unreadable.

    >>> value_from("```json\\n42\\n```"), value_from("True"), value_from("It is {'n': 1}.")
    (42, True, {'n': 1})
    """
    with suppress(ValueError):
        return _whole(after_thoughts(text))
    return json_from(text)


def json_from(text: str) -> Any:
    """Return the single JSON object or list in an answer; repetitions of a value count once.

    Raises:
        NoJson: There is no value, several, or one that is truncated or unreadable.

    >>> json_from('Here it is: {"steps": []} as you asked')
    {'steps': []}
    """
    found = scan(text)
    # If nothing but asides is there, one of them is the answer.
    pieces = distinct([piece for piece in found.pieces if not _is_aside(piece.value)] or found.pieces)
    if found.broken or not pieces:
        raise _missing(found)
    if len(pieces) > 1:
        raise NoJson(f"the answer holds {len(pieces)} differing JSON values; give one")
    return pieces[0].value


def cannot_in(text: str) -> str | None:
    """Return the words of an answer that is `{"cannot": "..."}` and nothing else, in a fence or not, else None.

    >>> cannot_in('{"cannot": "it is locked"}'), cannot_in('It says {"cannot": "it is locked"}.')
    ('it is locked', None)
    """
    if CANNOT not in text:  # most answers, which are then read once
        return None
    with suppress(ValueError):
        value = _whole(text)
        return words_of(value[CANNOT]) if isinstance(value, dict) and set(value) == {CANNOT} else None
    return None


def plans_in(text: str, shape: PlanShape) -> list[Piece]:
    """Return the different plans in an answer, usually one, and the parts of plans beside them (decision 128).

    If there is no plan and one other value, return that, so that the caller can report its faults.

    Raises:
        NoJson: There is no value, or one that is a plan or a part of one is truncated or unreadable.
    """
    found = scan(text)
    plans, others = _split(found.pieces, shape)
    parts = [broken for broken in found.broken if shape.is_part(broken.text)]
    # What is broken beside a plan may be a quotation; a broken part of one would be missing from what is run.
    if parts or (found.broken and not plans):
        raise NoJson(f"the JSON in the answer {(parts or found.broken)[0].fault}" + (f"; {ONE_PLAN}" if plans else ""))
    if plans:
        if shape.is_torn(found.words, [piece.lead for piece in plans]):
            raise NoJson(f"the answer holds a part of a plan outside of the plan's brackets; {ONE_PLAN}")
        if not all(piece.is_closed or shape.has_steps(piece.value) for piece in plans):
            raise NoJson("the JSON in the answer is not closed; it may be cut off")
        values = [piece.value for piece in plans]
        # What would be lost if the plan alone were run is brought along, for the caller to refuse or to join.
        return distinct([*plans, *(piece for piece in others if shape.is_lost(piece.value, values))])
    others = distinct([piece for piece in others if not _is_aside(piece.value)] or others)
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
    if any(broken.mentions(key) for broken in found.broken):
        return []
    return [piece.value for piece in found.pieces if isinstance(piece.value, dict) and key in piece.value]


def _whole(answer: str) -> Any:
    """Return the JSON value that is all of an answer, fenced or not, once its thoughts are removed.

    Raises:
        LenientError: The answer holds something else, or a value that cannot be read.
    """
    fenced = _FENCED.fullmatch(answer)
    return lenient_json(fenced[1].strip() if fenced else answer)


def _split(pieces: Iterable[Piece], shape: PlanShape) -> tuple[list[Piece], list[Piece]]:
    """Return the pieces that are plans, and the others."""
    plans: list[Piece] = []
    others: list[Piece] = []
    for piece in pieces:
        (plans if shape.is_plan(piece.value) else others).append(piece)
    return plans, others


def _is_aside(value: Any) -> bool:
    """Whether a value is likely part of prose: empty brackets, or footnote numbers."""
    return not value or (isinstance(value, list) and all(isinstance(item, int) for item in value))


def _missing(found: ScanResult) -> NoJson:
    """Return the error to raise if there is no value."""
    if found.broken:
        return NoJson(f"the JSON in the answer {found.broken[0].fault}")
    return NoJson("the answer holds no JSON object" + (" beside its thoughts" if found.thoughts else ""))
