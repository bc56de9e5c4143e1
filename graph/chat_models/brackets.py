"""Bracket matching in almost-JSON text, and repair of one superfluous or missing closing bracket (decision 0015).

A bracket is added or removed only in the final run of closing brackets, and only if no other position in the text would
also give valid JSON: then the repair is unambiguous.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.chat_models.lenient_json import MAX_DEPTH

_TOKEN = re.compile(
    r'''"""(?:.*?""")|"(?:[^"\\]++|\\(?:.|\Z))*+(?:"|\Z)|'(?:[^'\\]++|\\(?:.|\Z))*+(?:'|\Z)'''
    r"""|//[^\n]*+|\#[^\n]*+|/\*(?:.*?\*/|.*\Z)|```|[\[\](){}]""",
    re.DOTALL,
)
_CLOSES = {"[": "]", "{": "}", "(": ")"}
_RUN = re.compile(r"[\]})\s]*+(?:```|\Z)")
ONE_TOO_MANY = "one closing bracket too many at the end was left out"
ONE_TOO_FEW = "one closing bracket missing at the end was added"


@dataclass(frozen=True)
class Brackets:
    """Result of a bracket walk: its end, the brackets still open, and the reason for stopping."""

    end: int
    left: tuple[str, ...] = ()
    closed: bool = False
    misplaced: bool = False
    in_text: bool = False


def walk(text: str, start: int) -> Brackets:
    """Walk from the bracket at `start` to its match, a mismatched bracket, a fence, or the end of the text."""
    left: list[str] = []
    in_text = False
    for token in _TOKEN.finditer(text, start):
        sign = token[0]
        if sign in _CLOSES:
            left.append(sign)
        elif sign == "```":
            return Brackets(token.start(), tuple(left))
        elif sign in ("]", "}", ")"):
            if not left or _CLOSES[left[-1]] != sign:
                return Brackets(token.end(), tuple(left), misplaced=True)
            left.pop()
            if not left:
                return Brackets(token.end(), closed=True)
        # A quote without its end may be a text that was cut off, whose brackets are none.
        in_text = sign[0] in "\"'" and token.end() == len(text) and (len(sign) < 2 or sign[-1] != sign[0])
    return Brackets(len(text), tuple(left), in_text=in_text)


def extra_at(text: str, end: int) -> bool:
    """Whether only superfluous closing brackets follow a value until the end of the text or fence."""
    run = _RUN.match(text, end)
    return run is not None and any(sign in "]})" for sign in run[0])


def repair_brackets(text: str, start: int, met: Brackets, read: Callable[[str], Any]) -> tuple[Any, str] | None:
    """Return the value at `start` with one closing bracket added or removed, and a note; None if ambiguous.

    Args:
        text: The whole text.
        start: Index of the value's first bracket.
        met: Result of a walk from there that did not find the end of the value.
        read: Parses a text that is one value; raises ValueError.
    """
    end = met.end
    # The walk stopped within the run of brackets at the end, or before it: then something else is wrong.
    if met.misplaced:
        run = _RUN.match(text, met.end)
        if run is None:
            return None
        end = run.end() - len("```") if run[0].endswith("```") else run.end()
    whole = text[start:end]
    # Only in the run of brackets at the end may one be missing or too many.
    body = whole.rstrip("]}) \t\r\n")
    given = "".join(whole[len(body) :].split())
    before = walk(body, 0)
    if before.closed or before.misplaced or before.in_text or not before.left or len(before.left) > MAX_DEPTH:
        return None
    needed = "".join(_CLOSES[sign] for sign in reversed(before.left))
    way = _one_too_few(body, given, needed) or _one_too_many(given, needed)
    if way is None:
        return None
    note, level, other_ways = way
    try:
        value = read(body + needed)
    except ValueError:
        return None
    # If a bracket fits in two places, the text has two readings, and none is chosen.
    return None if level is not None and other_ways(_last_of(value, len(needed) - 1 - level)) else (value, note)


Repair = tuple[str, int | None, Callable[[Any], bool]]
"""Note, index of the affected closing bracket, and a predicate: does the value there allow another repair?"""


def _one_too_few(body: str, given: str, needed: str) -> Repair | None:
    if not (places := _superfluous(needed, given)):
        return None
    is_last = places[-1] == len(needed) - 1
    if is_last and (needed[-1] != "}" or (not given and body[-1:] not in "\"'")):
        return None  # the list or the last value may be cut off
    return ONE_TOO_FEW, places[-1], _could_close_earlier


def _superfluous(longer: str, shorter: str) -> list[int]:
    """Return the places in a run of brackets without one of which it is the other run."""
    return [place for place in range(len(longer)) if longer[:place] + longer[place + 1 :] == shorter]


def _one_too_many(given: str, needed: str) -> Repair | None:
    if not (places := _superfluous(given, needed)):
        return None
    before = places[-1] - 1
    is_same = before >= 0 and given[before] == given[places[-1]]
    return ONE_TOO_MANY, before if is_same else None, _could_close_later


def _last_of(value: Any, depth: int) -> Any:
    """Return the last item of the last item of a value, and so on, `depth` levels down."""
    for _ in range(depth):
        value = list(value.values())[-1] if isinstance(value, dict) else value[-1]
    return value


def _could_close_earlier(value: Any) -> bool:
    """Whether a nested value could have been closed earlier, so that its last items belong to its parent."""
    waiting = [value]
    while waiting:
        same = _same_kind(waiting.pop())
        if any(len(inner) > 1 for inner in same):
            return True
        waiting += same
    return False


def _could_close_later(value: Any) -> bool:
    """Whether a nested value could have been closed later, so that it includes the items after it."""
    while True:
        items = list(value.values()) if isinstance(value, dict) else list(value)
        if not items:
            return False
        if any(isinstance(item, type(value)) for item in items[:-1]):
            return True
        if not isinstance(items[-1], type(value)):
            return False
        value = items[-1]


def _same_kind(value: Any) -> list[Any]:
    items = value.values() if isinstance(value, dict) else value
    return [item for item in items if isinstance(item, type(value))]
