"""What plans can hold: JSON of bounded depth, plain text, integers of 64 bits."""

from math import isfinite
from typing import Any

from graph.plan.shortening import value_in_words
from graph.sanitize import is_utf8

MAX_DEPTH = 100
TOO_DEEP = f"nested deeper than {MAX_DEPTH}"
INT64 = (-(2**63), 2**64 - 1)


def json_faults(value: Any, most: int = 20) -> list[tuple[str, str]]:
    """Return (path, what is wrong) of the things in `value` that plans cannot hold, at most about `most`.

    Nesting that is too deep is never cut from the list: whoever walks the value next relies on it.
    """
    stack: list[tuple[Any, str, int]] = [(value, "", 0)]
    faults: list[tuple[str, str]] = []
    while stack:
        item, where, depth = stack.pop()
        if depth > MAX_DEPTH:
            return [*faults, (where[:80], TOO_DEEP)]
        message = _scalar_fault(item)
        if message:
            faults += [(where, message)] if len(faults) < most else []
        elif isinstance(item, dict):
            faults += [
                (where, f"the key {value_in_words(key)} is no text or not plain")
                for key in item
                if not _is_plain_text(key)
            ]
            stack += [(part, f"{where}.{key}", depth + 1) for key, part in item.items()]
        elif isinstance(item, list):
            stack += [(part, f"{where}[{place}]", depth + 1) for place, part in enumerate(item)]
    return faults


def _scalar_fault(item: Any) -> str | None:
    if isinstance(item, str):
        return None if _is_plain_text(item) else "text with a NUL character or half a surrogate pair"
    if item is None or isinstance(item, bool | dict | list):
        return None
    if isinstance(item, int):
        return None if INT64[0] <= item <= INT64[1] else "an integer beyond 64 bits; write it as text"
    if isinstance(item, float):
        return None if isfinite(item) else f"{item} is no JSON number"
    return f"a {type(item).__name__} is no JSON value"


def _is_plain_text(item: object) -> bool:
    return isinstance(item, str) and "\0" not in item and is_utf8(item)
