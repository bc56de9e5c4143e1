"""JSON parsing that refuses duplicate keys: with two values, the intended one is unknown."""

import json
from collections.abc import Iterable
from typing import Any


def put(found: dict[str, Any], key: str, value: Any) -> bool:
    """Set a key of an object; return False if it has another value already, or a list or object, never compared."""
    if key not in found:
        found[key] = value
        return True
    before = found[key]
    return type(before) is type(value) and not isinstance(value, dict | list) and bool(before == value)


def unique_keys(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object from its pairs, as `object_pairs_hook` of `json.loads`.

    Raises:
        ValueError: A key occurs twice with different values.

    >>> json.loads('{"a": 1, "a": 2}', object_pairs_hook=unique_keys)
    Traceback (most recent call last):
    ValueError: the key 'a' occurs twice with different values; keep one
    """
    found: dict[str, Any] = {}
    for key, value in pairs:
        if not put(found, key, value):
            raise ValueError(f"the key {key[:80]!r} occurs twice with different values; keep one")
    return found


def read_json(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: It is not JSON, or has a duplicate key.
        RecursionError: It is nested too deeply for Python's parser.
    """
    return json.loads(text, strict=False, object_pairs_hook=unique_keys)
