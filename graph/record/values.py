"""Results as JSON: a tool's output is converted to JSON once or refused, never changed in silence."""

import hashlib
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from math import isfinite
from pathlib import PurePath
from typing import Any, NamedTuple
from uuid import UUID

from pydantic import BaseModel, JsonValue

from planner_executor.graph.errors import ResultError
from planner_executor.graph.plain_text.sanitize import is_utf8
from planner_executor.graph.plan.issues import storable
from planner_executor.graph.plan.json_values import long_integer_fault
from planner_executor.graph.plan.json_writer import COMPACT, json_writer

INLINE_BYTES = 8_192
PREVIEW_CHARACTERS = 500
MAX_DEPTH = 200
MAX_BITS = 14_000
_compact_json = json_writer(separators=COMPACT)


def normalise(value: Any, path: str = "", depth: int = 0) -> JsonValue:
    """Return a tool's output as JSON.

    Tuples become lists; pydantic models and dataclasses objects; dates, decimals, UUIDs and paths their usual text.

    Raises:
        ResultError: The output holds a value that JSON cannot represent unchanged.
    """
    if depth > MAX_DEPTH:
        raise ResultError(path[:80], f"is nested deeper than {MAX_DEPTH}, or holds itself")
    if value is None or isinstance(value, bool):
        return value
    # Before text and numbers, since a member may be either of them too.
    if isinstance(value, Enum):
        return normalise(value.value, path, depth)
    if isinstance(value, str):
        return _text(str.__str__(value), path)  # a subclass may show itself as something else
    if isinstance(value, int | float):
        return _number(value, path)
    if isinstance(value, dict):
        return {_key(key, path): normalise(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [normalise(item, f"{path}[{place}]", depth + 1) for place, item in enumerate(value)]
    return _other(value, path, depth)


def to_text(value: JsonValue) -> str:
    """Return the compact JSON text of a normalised value."""
    return _compact_json(value)


class Artifact(NamedTuple):
    """A result too large or too wide for the state, addressed by content: `id` is the SHA-256 of its JSON text."""

    id: str
    size: int
    preview: str

    def to_json(self) -> dict[str, JsonValue]:
        """Return the description of the artifact in state and ledger; `size` is in bytes."""
        return {"id": self.id, "size": self.size, "digest": f"sha256:{self.id}", "preview": self.preview}


class Kept(NamedTuple):
    """A value to store, and its artifact if it is not inline."""

    value: JsonValue
    text: str
    artifact: Artifact | None

    @property
    def named(self) -> dict[str, JsonValue]:
        """The reference to an artifact that many runs share: its id alone."""
        return {"id": self.artifact.id} if self.artifact else {}

    def fields(self) -> dict[str, Any]:
        """Return `{"value": ...}` or `{"artifact": ...}`, the form in results, state and ledger."""
        return {"artifact": self.artifact.to_json()} if self.artifact else {"value": self.value}


def keep(value: JsonValue, inline_bytes: int = INLINE_BYTES) -> Kept:
    """Return a normalised value to store: inline up to `inline_bytes` of JSON, else as an artifact."""
    text = to_text(value)
    data = text.encode()
    if len(data) <= inline_bytes and long_integer_fault(value) is None:
        return Kept(value, text, None)
    preview = text if len(data) <= inline_bytes else text[:PREVIEW_CHARACTERS]
    return Kept(value, text, Artifact(hashlib.sha256(data).hexdigest(), len(data), preview))


def keep_constant(value: JsonValue) -> Kept:
    """Return a value that many runs share, to store once: as an artifact of any size."""
    text = to_text(value)
    data = text.encode()
    return Kept(value, text, Artifact(hashlib.sha256(data).hexdigest(), len(data), ""))


def keep_anything(value: Any) -> Kept:
    """Return any object to store; one that is not JSON is stored as text."""
    try:
        return keep(normalise(value))
    except ResultError:
        return keep(storable(str(value)))


def _text(value: str, path: str) -> str:
    if not is_utf8(value):
        raise ResultError(path, "is text with half a surrogate pair; return clean text")
    return value


def _number(value: int | float, path: str) -> JsonValue:
    if isinstance(value, float) and not isfinite(value):
        raise ResultError(path, f"is {value}, which JSON cannot represent; return null or text")
    # A subclass, such as NumPy's, becomes a plain number.
    if isinstance(value, float):
        return float(value)
    if value.bit_length() > MAX_BITS:  # beyond 4,300 digits Python itself reads and writes none
        raise ResultError(path, f"is an integer of {value.bit_length()} bits; return it as text")
    return int(value)


def _key(key: Any, path: str) -> str:
    if not isinstance(key, str):
        raise ResultError(path, f"has the key {key!r}; keys are text")
    return _text(key, path)


def _other(value: Any, path: str, depth: int) -> JsonValue:
    if isinstance(value, BaseModel):
        # In Python's mode, so that what JSON cannot hold is named by our rules and not made into text.
        return normalise(value.model_dump(mode="python"), path, depth)
    if is_dataclass(value) and not isinstance(value, type):
        return normalise({field.name: getattr(value, field.name) for field in fields(value)}, path, depth)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal | UUID | PurePath):
        return str(value)
    # Some tools return their failure; as a value it would count as a success.
    if isinstance(value, BaseException):
        raise ResultError(path, f"is an error: {type(value).__name__}: {value}")
    if isinstance(value, bytes | bytearray | memoryview):
        raise ResultError(path, "is bytes; return text, such as base64, or write a file and return its path")
    raise ResultError(path, f"is a {type(value).__name__}, which is not JSON; return plain data")
