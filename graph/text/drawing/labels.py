"""The labels of a drawing: one line each, without invisible characters, shortened to the available room."""

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache

from pydantic import JsonValue

from planner_executor.graph.plain_text.sanitize import is_mark, one_line, visible
from planner_executor.graph.plan.json_writer import json_writer
from planner_executor.graph.plan.references import Reference, pieces
from planner_executor.graph.plan.schedule import waits_for
from planner_executor.graph.plan.schema import Plan

Measure = Callable[[str], float]

SHORT = 4
"""At most so many columns of what is no word, such as a URL, are left out so that the cut is between words."""
_json = json_writer()


def plain(text: str) -> str:
    r"""Return untrusted text on one line, with invisible characters escaped (see `graph.plain_text.sanitize`).

    >>> print(plain("two\nlines \x1b[31mred"))
    two\u{a}lines \u{1b}[31mred
    """
    return one_line(text)


def columns(text: str) -> int:
    """Return how many terminal columns a plain text takes.

    >>> columns("plan"), columns("計画")
    (4, 4)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def cut(text: str, room: float, measure: Measure = columns) -> str:
    """Return the text, or the beginning that fits before an ellipsis.

    >>> cut("offshore wind", 9)
    'offshore…'
    """
    if measure(text) <= room:
        return text
    return text[: fitting(text, room - measure("…"), measure)].rstrip() + "…"


def cut_middle(text: str, room: float, measure: Measure = columns) -> str:
    """Return the text, or its beginning and its end around an ellipsis, so that texts with different ends differ.

    >>> cut_middle("offshore_wind_north", 11)
    'offsh…north'
    """
    if measure(text) <= room:
        return text
    end = _ending(text, (room - measure("…")) / 2, measure)
    start = fitting(text, room - measure("…") - measure(end), measure)
    return f"{text[:start].rstrip()}…{end.lstrip()}"


def cut_words(text: str, room: float) -> str:
    """Return the text, or the first and last words that fit around an ellipsis; what is no word is cut itself.

    >>> cut_words("find out what the documents say", 18)
    'find out … say'
    >>> cut_words('fetch url="https://example.org/a/b"', 24)
    'fetch url="h…le.org/a/b"'
    """
    if columns(text) <= room:
        return text
    around = room - columns(" … ")
    tail = _last_words(text, around / 2)
    head = _first_words(text, around - columns(tail or _ending(text, around / 2)))
    tail = _last_words(text, around - columns(head)) if head else tail
    if head and tail:
        return f"{head} … {tail}"
    if head:
        return f"{head} …{_ending(text, around + 1 - columns(head)).lstrip()}"
    return f"{text[: fitting(text, around + 1 - columns(tail))].rstrip()}… {tail}" if tail else cut_middle(text, room)


def _ending(text: str, room: float, measure: Measure = columns) -> str:
    """Return the end of a text that fits; no mark is parted from its letter."""
    length = fitting(text[::-1], room, measure)
    while length and is_mark(text[len(text) - length]):
        length -= 1
    return text[len(text) - length :]


def _first_words(text: str, room: float) -> str:
    """Return the whole words at the beginning that fit; none if that leaves out much that is no word, as of a URL."""
    length = fitting(text, room)
    part = text[:length]
    if part.endswith(" ") or text[length : length + 1] == " ":
        return part.strip()
    words, _, rest = part.rpartition(" ")
    return words.strip() if rest.isalpha() or columns(rest) <= SHORT else ""


def _last_words(text: str, room: float) -> str:
    """Return the whole words at the end that fit; see `_first_words`."""
    return _first_words(text[::-1], room)[::-1]


def fitting(text: str, room: float, measure: Measure = columns) -> int:
    """Return how many letters of the text fit."""
    if measure is columns and text.isascii():
        return min(len(text), max(0, int(room)))
    most = min(len(text), 8 * max(0, int(room)) + 8)
    return max(0, bisect_right(range(most + 1), room, key=lambda end: measure(text[:end])) - 1)


def arguments(args: Mapping[str, JsonValue], literal: Collection[str] = ()) -> str:
    """Return arguments on one line; a reference has no quotes unless its argument is `literal`.

    >>> arguments({"query": "wind", "limit": 5, "of": "{step_1_result.items}"})
    'query="wind" limit=5 of={step_1_result.items}'
    """
    texts = (_quoted(value) if name in literal else _value(value) for name, value in args.items())
    return " ".join(f"{plain(name)}={text}" for name, text in zip(args, texts, strict=True))


def waits_within(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return step id -> its dependencies in this plan, with keys in plan order."""
    known = plan.by_id
    return {
        step: tuple(before for before in befores if before in known) for step, befores in waits_for(plan.steps).items()
    }


def answer_text(plan: Plan) -> str:
    """Return the plan's answer on one line, or a note if there is no answer."""
    return "none" if plan.answer is None else arguments({"": plan.answer}).removeprefix("=")


def some(names: Sequence[str], room: float) -> str:
    """Return the names that fit into `room` columns, at least one, and the number of the others.

    >>> some(["step_1", "step_2", "step_3"], 14)
    'step_1, +2'
    """
    shown, used = 1, columns(names[0])
    while shown < len(names):
        used += 2 + columns(names[shown])
        more = len(names) - shown - 1
        if used + (len(f", +{more}") if more else 0) > room:
            break
        shown += 1
    hidden = len(names) - shown
    return ", ".join([*names[:shown], *([f"+{hidden}"] if hidden else [])])


def _value(value: JsonValue) -> str:
    if isinstance(value, str):
        parts = pieces(value)
        if len(parts) == 1 and isinstance(parts[0], Reference):
            return plain(value)
    return _quoted(value)


def _quoted(value: JsonValue) -> str:
    return " ".join(visible(_json(value)).split())


@lru_cache(maxsize=4096)
def _columns(letter: str) -> int:
    if unicodedata.east_asian_width(letter) in "WF":
        return 2
    return 0 if is_mark(letter) else 1
