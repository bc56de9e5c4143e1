"""JSON in which an object has each key once: of two values nobody can tell which is meant."""

import json
from collections.abc import Iterable
from typing import Any


def put(found: dict[str, Any], key: str, value: Any) -> bool:
    """Set a key of an object; return False if it has another value already, or one too large to compare."""
    if key not in found:
        found[key] = value
        return True
    before = found[key]
    return type(before) is type(value) and not isinstance(value, dict | list) and bool(before == value)


def unique_keys(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object as JSON readers build it.

    Raises:
        ValueError: A key is there twice, with different values.

    >>> json.loads('{"a": 1, "a": 2}', object_pairs_hook=unique_keys)
    Traceback (most recent call last):
    ValueError: the key 'a' is there twice, with different values
    """
    found: dict[str, Any] = {}
    for key, value in pairs:
        if not put(found, key, value):
            raise ValueError(f"the key {key[:80]!r} is there twice, with different values")
    return found


def read_json(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: It is no JSON, or has a key twice.
        RecursionError: It is nested too deep for Python's reader.
    """
    return json.loads(text, strict=False, object_pairs_hook=unique_keys)
