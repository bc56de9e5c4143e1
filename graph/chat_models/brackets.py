"""Brackets in a text that should be JSON: where a value ends, and its end with one bracket too many or too few mended.

A bracket is put in or left out only in the run of closing brackets that ends the text, and only if there is no other
place in the text at which doing so would give JSON too: then the text can mean one thing only.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from graph.chat_models.lenient_json import MAX_DEPTH

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
    """What a walk over brackets met: where it ended, those left open, and whether all were closed."""

    end: int
    left: tuple[str, ...] = ()
    closed: bool = False
    misplaced: bool = False
    in_text: bool = False


def walk(text: str, start: int) -> Brackets:
    """Return what comes of the bracket at `start`: its own end, a wrong bracket, a fence, or the end of the text."""
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
        in_text = sign[0] in "\"'" and token.end() == len(text) and (len(sign) < 2 or sign[-1] != sign[0])
    return Brackets(len(text), tuple(left), in_text=in_text)


def extra_at(text: str, end: int) -> bool:
    """Whether nothing but closing brackets follows a value until the text or its fence ends."""
    run = _RUN.match(text, end)
    return run is not None and any(sign in "]})" for sign in run[0])


def mended(text: str, start: int, met: Brackets, read: Callable[[str], Any]) -> tuple[Any, str] | None:
    """Return the value at `start` with one bracket more or less at its end, and what was done; None if it is unclear.

    Args:
        text: The whole text.
        start: The place of the value's first bracket.
        met: What a walk from there met; not the end of the value.
        read: Reads a text that is one value; raises ValueError.
    """
    end = met.end
    if met.misplaced:
        run = _RUN.match(text, met.end)
        if run is None:
            return None
        end = run.end() - len("```") if run[0].endswith("```") else run.end()
    whole = text[start:end]
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
    return None if level is not None and other_ways(_last_of(value, len(needed) - 1 - level)) else (value, note)


Way = tuple[str, int | None, Callable[[Any], bool]]
"""What was done, which closing bracket of those needed it is about, and whether the value there shows other ways."""


def _one_too_few(body: str, given: str, needed: str) -> Way | None:
    if len(given) != len(needed) - 1:
        return None
    places = [place for place in range(len(needed)) if needed[:place] + needed[place + 1 :] == given]
    if not places:
        return None
    is_last = places[-1] == len(needed) - 1
    if is_last and (needed[-1] != "}" or (not given and body[-1:] not in "\"'")):
        return None  # more items may have followed, or the last value may go on
    return ONE_TOO_FEW, places[-1], _could_close_earlier


def _one_too_many(given: str, needed: str) -> Way | None:
    if len(given) != len(needed) + 1:
        return None
    places = [place for place in range(len(given)) if given[:place] + given[place + 1 :] == needed]
    if not places:
        return None
    before = places[-1] - 1
    is_same = before >= 0 and given[before] == given[places[-1]]
    return ONE_TOO_MANY, before if is_same else None, _could_close_later


def _last_of(value: Any, depth: int) -> Any:
    """Return what lies `depth` deep in a value, always in the last place."""
    for _ in range(depth):
        value = list(value.values())[-1] if isinstance(value, dict) else value[-1]
    return value


def _could_close_earlier(value: Any) -> bool:
    """Whether something within the value could end before its last item, and leave the rest to what it stands in."""
    waiting = [value]
    while waiting:
        same = _same_kind(waiting.pop())
        if any(len(inner) > 1 for inner in same):
            return True
        waiting += same
    return False


def _could_close_later(value: Any) -> bool:
    """Whether something within the value could take in what follows it there."""
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
