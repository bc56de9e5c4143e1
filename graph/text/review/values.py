"""Values in a review: arguments and results over several lines; nothing hides, and what is left out is counted."""

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256

from pydantic import JsonValue

from planner_executor.graph.plain_text.sanitize import escaped, visible
from planner_executor.graph.record.values import to_text
from planner_executor.graph.review.content import Shown, Whole
from planner_executor.graph.text.review.layout import GOES_ON, MARGIN, WIDTH, entry

MAX_CHARACTERS = 4_000
"""Limit of all arguments of a call, or all results that a question shows, in characters."""
DIGEST_CHARACTERS = 12

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def value_lines(values: Mapping[str, JsonValue], indent: str = "    ") -> list[str]:
    """Return named values, each on lines of its own; the lines of a text stay lines, behind a margin.

    >>> print("\\n".join(value_lines({"to": "ann@example.com", "text": "Dear Ann,\\n\\nyes"}, "")))
    to: "ann@example.com"
    text:
      | Dear Ann,
      |
      | yes
    """
    most = _most(values)
    return [
        line
        for key, value in values.items()
        for lead, text in _named(key, value, most, WIDTH - len(indent) - GOES_ON)
        for line in entry(text, indent + lead)
    ]


def text_lines(text: str, indent: str = "  ") -> list[str]:
    """Return a text whose lines stay lines, behind a margin."""
    return [line for lead, whole in _text_lines(text, MAX_CHARACTERS) for line in entry(whole, indent + lead)]


def shown(value: JsonValue) -> str:
    r"""Return a value on one line: invisible characters are escaped, and what is left out of the middle is counted.

    >>> print(shown({"to": "ann\u202emoc.live@"}))
    {"to":"ann\u{202e}moc.live@"}
    """
    return cut(visible(to_text(value)), MAX_CHARACTERS)


def cut(text: str, most: int) -> str:
    """Return the text, or its beginning and its end about a count and a digest: two that differ never look the same.

    >>> cut("a" * 90, 40)
    'aaaaaaaaaaaaaaaaaaaa ... 50 more characters, digest 6b2ec79170f5 ... aaaaaaaaaaaaaaaaaaaa'
    """
    left = len(text) - most
    if left <= 0:
        return text
    half = most // 2
    return f"{text[:half]} {_left_out(text, left)} {text[len(text) - half :]}"


def told(value: Shown, most: int) -> str:
    """Return a value of a review on one line; of a large one the beginning and the end, its length and its digest."""
    if isinstance(value, Whole):
        return cut(visible(to_text(value.value)), most)
    half = most // 2
    left = f"... {value.length} bytes in all, digest {value.digest[:DIGEST_CHARACTERS]} ..."
    return f"{visible(value.preview)[:half]} {left} {visible(value.end)[-half:] if value.end else ''}".rstrip()


def plain_value(value: Shown) -> JsonValue:
    """Return a value of a review, a large one as text."""
    return value.value if isinstance(value, Whole) else told(value, MAX_CHARACTERS)


def is_whole(values: Mapping[str, JsonValue]) -> bool:
    """Whether nothing of these named values is left out where they are shown.

    >>> is_whole({"to": "ann"}), is_whole({"to": "ann", "text": "a" * 4000})
    (True, False)
    """
    return sum(len(visible(to_text(value))) for value in values.values()) <= MAX_CHARACTERS


def _left_out(text: str, left: int) -> str:
    # Lone surrogates have no UTF-8, and a digest is wanted of them too.
    whole = sha256(text.encode("utf-8", "replace")).hexdigest()[:DIGEST_CHARACTERS]
    return f"... {left} more characters, digest {whole} ..."


def _most(values: Mapping[str, JsonValue]) -> int:
    """Return how long each value may be, so that none takes the room of another."""
    lengths = [len(to_text(value)) for value in values.values()]
    if sum(lengths) <= MAX_CHARACTERS:
        return MAX_CHARACTERS
    # What short values leave of their even shares goes to the long ones.
    even = MAX_CHARACTERS // len(lengths)
    short = [length for length in lengths if length <= even]
    return (MAX_CHARACTERS - sum(short)) // (len(lengths) - len(short))


def _named(key: str, value: JsonValue, most: int, room: int) -> Iterator[tuple[str, str]]:
    """Yield the lines of a named value: what each begins with, and its text."""
    label = key if _PLAIN_KEY.fullmatch(key) else visible(to_text(key))
    if isinstance(value, str) and "\n" in value:
        yield "", f"{label}:"
        yield from _text_lines(value, most)
        return
    text = visible(to_text(value))
    # Only a value that is shown whole is laid out as JSON on several lines: a cut one would not be valid.
    if isinstance(value, dict | list) and len(label) + 2 + len(text) > room and len(text) <= most:
        yield "", f"{label}:"
        for line in visible(json.dumps(value, ensure_ascii=False, indent=2)).split("\n"):
            inner = line.lstrip(" ")
            yield " " * (2 + len(line) - len(inner)), inner
        return
    yield "", f"{label}: {cut(text, most)}"


def _text_lines(text: str, most: int) -> Iterator[tuple[str, str]]:
    lines = _whole_lines(text) if len(text) <= most else [
        *_whole_lines(text[: most // 2]), None, *_whole_lines(text[len(text) - most // 2 :])
    ]  # fmt: skip
    for line in lines:
        yield ("  ", _left_out(text, len(text) - most)) if line is None else (f"  {MARGIN}", line)


def _whole_lines(text: str) -> list[str | None]:
    return [escaped(line) for line in text.split("\n")]
