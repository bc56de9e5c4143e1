"""Lenient JSON parser: single quotes, Python literals, comments, trailing commas, bare keys, full-width commas.

It never guesses: ambiguous text is refused. It has its own stack and never backtracks, so its work is linear in the
length of the text (decision 0029).
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from planner_executor.graph.plan.unique_keys import put

MAX_DEPTH = 200
TOO_DEEP = f"is nested deeper than {MAX_DEPTH}"

_SPACE = re.compile(r"(?:\s++|//[^\n]*+|\#[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_STRING = re.compile(r'"""(.*?)"""|"((?:[^"\\]++|\\.)*+)"|' + r"'((?:[^'\\]++|\\.)*+)'", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?")
_WORD = re.compile(r"[A-Za-z_]\w*+")
_ESCAPE = re.compile(r"""\\x[0-9a-fA-F]{2}|\\U[0-9a-fA-F]{8}|\\.|["]""", re.DOTALL)
_CLOSES = {"[": "]", "{": "}", "(": ")"}
_LITERALS: dict[str, Any] = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_PYTHON = ("True", "False", "None")
# No strings: the empty sign at the end of a text would be in them.
_COMMAS, _COLONS = (",", "，", "、"), (":", "：")  # noqa: RUF001  (the full-width signs are meant)


class LenientError(ValueError):
    """The text is not even almost JSON; `position` is the index of the fault, `at_end` if the text ends there."""

    def __init__(self, message: str, position: int, at_end: bool = False) -> None:
        self.position = position
        self.at_end = at_end
        super().__init__(message)


@dataclass(frozen=True)
class Lenient:
    """A value, the index after it, and notes on its deviations from JSON."""

    value: Any
    end: int
    notes: tuple[str, ...]


def lenient_json(text: str) -> Any:
    """Return the value of a text that is almost JSON.

    Raises:
        LenientError: It is not even almost JSON, or text follows the value.

    >>> lenient_json("{'a': [1, True, None,], b: \\"it's\\"} // done")
    {'a': [1, True, None], 'b': "it's"}
    """
    read = read_lenient(text, 0)
    end = _after_space(text, read.end)
    if end < len(text):
        raise LenientError("Extra data", end)
    return read.value


def read_lenient(text: str, start: int) -> Lenient:
    """Return the value at `start`.

    Raises:
        LenientError: There is no readable value.
    """
    reader = _Reader(text, start)
    return Lenient(reader.read(), reader.position, tuple(sorted(reader.notes)))


@dataclass
class _Open:
    """A list or an object that is still open."""

    value: Any
    closer: str
    key: str = ""


@dataclass
class _Reader:
    text: str
    position: int
    notes: set[str] = field(default_factory=set)

    def read(self) -> Any:
        # A stack of its own: how deep a text is nested is for its author to say.
        waiting: list[_Open] = []
        while True:
            self._skip()
            if (sign := self._sign()) in _CLOSES:
                waiting.append(_Open({} if sign == "{" else [], _CLOSES[sign]))
                if len(waiting) > MAX_DEPTH:
                    raise LenientError(TOO_DEEP, self.position)
                self.position += 1
                self._skip()
                if self._sign() != waiting[-1].closer:
                    self._key(waiting[-1])
                    continue
                self.position += 1
                value = waiting.pop().value
            else:
                value = self._scalar()
            while waiting:
                top = waiting[-1]
                self._add(top, value)
                if self._has_next(top):
                    self._key(top)
                    break
                value = waiting.pop().value
            else:
                return value

    def _add(self, top: _Open, value: Any) -> None:
        if isinstance(top.value, list):
            top.value.append(value)
        elif not put(top.value, top.key, value):
            raise LenientError(f"the key {top.key[:80]!r} is there twice, with different values", self.position)

    def _has_next(self, top: _Open) -> bool:
        """Read a comma or closing bracket; return whether another item follows."""
        self._skip()
        comma = self._sign() in _COMMAS
        if comma:
            self._note(self._sign() != ",", "full-width commas or colons")
            self.position += 1
            self._skip()
        if self._sign() == top.closer:
            self._note(comma, "a comma before a closing bracket")
            # Python reads (1) as 1 and (1,) as a tuple; which of them was meant is not known.
            if top.closer == ")" and not comma and len(top.value) == 1:
                raise LenientError("round brackets around one value", self.position)
            self.position += 1
            return False
        if not comma:
            raise self._fault("Expecting ',' delimiter")
        return True

    def _key(self, top: _Open) -> None:
        if isinstance(top.value, list):
            return
        if word := _WORD.match(self.text, self.position):
            top.key, self.position = word[0], word.end()
            self._note(True, "keys without quotes")
        elif self._sign() in ('"', "'"):
            top.key = self._string()
        else:
            raise self._fault("Expecting a key in quotes")
        self._skip()
        if self._sign() not in _COLONS:
            raise self._fault("Expecting ':' delimiter")
        self._note(self._sign() != ":", "full-width commas or colons")
        self.position += 1
        self._skip()

    def _scalar(self) -> Any:
        if self._sign() in ('"', "'"):
            return self._string()
        if number := _NUMBER.match(self.text, self.position):
            self.position = number.end()
            return _number(number)
        word = _WORD.match(self.text, self.position)
        if word is None or word[0] not in _LITERALS:
            raise self._fault("Expecting value", self.position if word is None else word.end())
        self.position = word.end()
        self._note(word[0] in _PYTHON, "Python's words for true, false and null")
        return _LITERALS[word[0]]

    def _string(self) -> str:
        found = _STRING.match(self.text, self.position)
        if found is None:
            # What ends in a bracket was hardly cut off: more of the answer would not help.
            ends_in_brackets = self.text.rstrip("`\n\r\t ")[-1:] in ("}", "]")
            raise LenientError("a text has no closing quote", self.position, at_end=not ends_in_brackets)
        self._note(found[1] is not None or found[3] is not None, "other quotes than JSON's")
        self.position = found.end()
        inner = next(group for group in found.groups() if group is not None)
        try:
            # Not strict: models break lines within a text, which JSON forbids.
            return str(json.loads(f'"{_ESCAPE.sub(_as_json, inner)}"', strict=False))
        except ValueError:
            raise LenientError("a text with an invalid escape", found.start()) from None

    def _skip(self) -> None:
        end = _after_space(self.text, self.position)
        self._note(end > self.position and bool(self.text[self.position : end].strip()), "comments")
        self.position = end

    def _sign(self) -> str:
        return self.text[self.position : self.position + 1]

    def _note(self, holds: bool, note: str) -> None:
        if holds:
            self.notes.add(note)

    def _fault(self, message: str, end: int | None = None) -> LenientError:
        is_end = (self.position if end is None else end) >= len(self.text)
        return LenientError(message, self.position, at_end=is_end)


def _after_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _number(written: re.Match[str]) -> int | float:
    try:
        return float(written[0]) if written[1] or written[2] else int(written[0])
    except ValueError:  # Python bounds the digits of an integer
        raise LenientError("a number with too many digits", written.start()) from None


def _as_json(escape: re.Match[str]) -> str:
    """Return an escape in JSON form; Python's are translated, unknown ones stay as written."""
    written = escape[0]
    if written in ('"', "\\'"):
        return '\\"' if written == '"' else "'"
    if len(written) > 2:
        return json.dumps(chr(int(written[2:], 16)))[1:-1]
    return written if written[1] in '"\\/bfnrtu' else f"\\{written}"
