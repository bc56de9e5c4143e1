"""Values allowed in plans: JSON of bounded depth, text without NUL or lone surrogates, 64-bit integers."""

from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any, TypeAlias, TypeGuard

from pydantic import JsonValue

from planner_executor.graph.plain_text.sanitize import is_utf8
from planner_executor.graph.plan.shortening import short_repr

MAX_DEPTH = 100
TOO_DEEP = f"nested deeper than {MAX_DEPTH}"
LONG_INTEGER = "an integer beyond 64 bits; write it as text"
INT64 = (-(2**63), 2**64 - 1)

Json: TypeAlias = dict[str, Any] | list[Any] | str | float | bool | None
"""JSON as a caller gives it. A type checker takes no variable for a `JsonValue`, whose dicts hold that type alone."""


def json_faults(value: Any, most: int = 20) -> list[tuple[str, str]]:
    """Return (path, fault) for parts of `value` that plans cannot contain, at most about `most`.

    Too deep a nesting is always in the list: callers recurse into the value only without it.
    """
    # A stack of our own: values from outside nest deeper than Python calls.
    stack: list[tuple[Any, str, int]] = [(value, "", 0)]
    faults: list[tuple[str, str]] = []
    while stack:
        item, path, depth = stack.pop()
        if depth > MAX_DEPTH:
            # At once, whatever else was found: nobody may recurse into the value.
            return [*faults, (path[:80], TOO_DEEP)]
        message = _scalar_fault(item)
        if message:
            # Bounded, as a long list of faulty items would fill a prompt with faults.
            faults += [(path, message)] if len(faults) < most else []
        elif isinstance(item, dict):
            faults += [
                (path, f"the key {short_repr(key)} is not plain text") for key in item if not _is_plain_text(key)
            ]
            stack += [(part, f"{path}.{key}", depth + 1) for key, part in item.items()]
        elif isinstance(item, list):
            stack += [(part, f"{path}[{place}]", depth + 1) for place, part in enumerate(item)]
    return faults


def with_texts(value: JsonValue, change: Callable[[str], JsonValue]) -> JsonValue:
    """Return `value` with each of its texts changed; keys stay as they are.

    >>> with_texts({"a": ["b", 1]}, str.upper)
    {'a': ['B', 1]}
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: with_texts(item, change) for key, item in value.items()}
    return [with_texts(item, change) for item in value] if isinstance(value, list) else value


def parts_of(value: Any) -> Iterator[Any]:
    """Yield a value and the values in it, each before what it holds; to stop early costs nothing for the rest."""
    stack = [value]
    while stack:
        part = stack.pop()
        yield part
        if isinstance(part, dict | list | tuple):
            stack += reversed([*part.values()] if isinstance(part, dict) else part)


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in a value, in their order; keys are none.

    >>> [*texts_in({"a": ["x", {"b": "y"}], "c": 1})]
    ['x', 'y']
    """
    return (part for part in parts_of(value) if isinstance(part, str))


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a JSON number; in Python a boolean is an integer too.

    >>> is_number(0.5), is_number(True), is_number("5")
    (True, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def long_integer_fault(value: Any) -> str | None:
    """Return why no checkpoint can hold a value, None if its integers have 64 bits at most.

    >>> long_integer_fault({"a": [2**64]}), long_integer_fault([2**63, True])
    ('an integer beyond 64 bits; write it as text', None)
    """
    integers = (part for part in parts_of(value) if isinstance(part, int))
    return LONG_INTEGER if any(not INT64[0] <= part <= INT64[1] for part in integers) else None


def _scalar_fault(item: Any) -> str | None:
    if isinstance(item, str):
        return None if _is_plain_text(item) else "text with a NUL character or a lone surrogate; remove it"
    # `bool` before `int`, of which it is a kind in Python.
    if item is None or isinstance(item, bool | dict | list):
        return None
    if isinstance(item, int):
        return None if INT64[0] <= item <= INT64[1] else LONG_INTEGER
    if isinstance(item, float):
        return None if isfinite(item) else f"{item} is not a JSON number"
    return f"a {type(item).__name__} is not a JSON value"


def _is_plain_text(item: object) -> bool:
    return isinstance(item, str) and "\0" not in item and is_utf8(item)


def json_kind(value: object) -> str:
    """Return the kind of a JSON value, in the words of JSON.

    >>> [json_kind(value) for value in ({}, [], "a", 1.5, True, None)]
    ['an object', 'a list', 'text', 'a number', 'a boolean', 'null']
    """
    kinds = {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")
