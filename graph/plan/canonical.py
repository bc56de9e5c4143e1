"""Canonical JSON and its digest: equal values give equal bytes on every machine."""

import hashlib
import json
import re
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any

import rfc8785
from pydantic import JsonValue

from planner_executor.graph.plan.json_writer import COMPACT, json_writer

_encoded = json_writer(separators=COMPACT, sort_keys=True, allow_nan=False)
"""Writes what is canonical except for some floats, and for the order of some keys beyond ASCII."""

_read = json.JSONDecoder(parse_float=lambda text: int(text[:-2]) if text.endswith(".0") else float(text)).decode
"""Reads whole floats as integers, which is how JavaScript writes them."""

_EXPONENT = re.compile("[0-9]e[+-]")
_SORTED_OTHERWISE = re.compile("[\ud800-\U0010ffff]")
"""Characters whose order among keys is another one in UTF-16."""


def canonical_json(value: JsonValue) -> bytes:
    """Return the RFC 8785 form of a JSON value, in UTF-8.

    One deviation: integers beyond 2^53 keep all their digits, because two different plans must not share a digest
    (docs/decisions/0005-canonical-json.md).

    Raises:
        ValueError: The value contains NaN, an infinity or a lone surrogate, which JSON cannot represent.

    Source: RFC 8785, "JSON Canonicalization Scheme", 2020.

    >>> canonical_json({"b": 1.0, "a": [None, "é"]}).decode()
    '{"a":[null,"é"],"b":1}'
    """
    text = _encoded(value)
    if _is_written_otherwise(text):
        parts: list[str] = []
        _write(value, parts.append)
        text = "".join(parts)
    elif ".0" in text:
        text = _encoded(_read(text))
    return text.encode()


def _is_written_otherwise(text: str) -> bool:
    """Whether JavaScript may write or sort something otherwise: a float with an exponent, or a character of a key."""
    if ("e+" in text or "e-" in text) and _EXPONENT.search(text):  # to search for each alone is much faster
        return True
    return not text.isascii() and _SORTED_OTHERWISE.search(text) is not None


def digest(value: JsonValue) -> str:
    """Return the hex SHA-256 of the canonical form."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def digest_if_json(value: Any) -> str | None:
    """Return the digest of a value that a client may have made something other than JSON, None for such a one."""
    try:
        return digest(value)
    except (ValueError, TypeError, RecursionError):
        return None


def _write(value: JsonValue, put: Callable[[str], None]) -> None:
    if isinstance(value, str):
        put(encode_basestring(value))
    elif isinstance(value, dict):
        _write_object(value, put)
    elif isinstance(value, list):
        put("[")
        for number, item in enumerate(value):
            if number:
                put(",")
            _write(item, put)
        put("]")
    elif isinstance(value, float):
        put(_number(value))
    else:
        # `True` is an `int` as well, and its `str` is no JSON.
        put(str(value) if type(value) is int else json.dumps(value))


def _write_object(value: dict[str, JsonValue], put: Callable[[str], None]) -> None:
    put("{")
    between = ""
    # Keys of ASCII alone have the same order in UTF-16, and are sorted much faster as they are.
    for key in sorted(value, key=None if "".join(value).isascii() else _utf16_units):
        put(f"{between}{encode_basestring(key)}:")
        _write(value[key], put)
        between = ","
    put("}")


def _number(value: float) -> str:
    """Return a float in JavaScript's notation; within these bounds Python's differs only by a trailing `.0`."""
    if 1e-4 <= abs(value) < 1e15 or not value:
        return str(int(value) if value.is_integer() else value)
    return rfc8785.dumps(value).decode()


def _utf16_units(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")
