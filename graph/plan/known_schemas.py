"""Which JSON Schemas can be used, found out once for each text: the graphs of a process have much the same tools.

Most tools have schemas of plain keywords, which need no `jsonschema` to be looked at: it takes longer to import than
the rest of a small agent.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from planner_executor.graph.plan.canonical import digest_if_json
from planner_executor.graph.plan.schema_fast_path import TYPES
from planner_executor.graph.plan.schema_shape import shape_fault, size_fault

MAX_KNOWN = 20_000
"""Limit of characters of a tool's schema whose fault, or its absence, is remembered."""


def known_schema_fault(schema: Mapping[str, Any]) -> str | None:
    """Return the same as `graph.plan.bounded_schema.schema_fault`, found out once per text.

    Use it outside of `work_limit` only: what is known already costs no work.
    """
    text = None if size_fault(schema) else repr(schema)
    return _fault(schema) if text is None or len(text) > MAX_KNOWN else _known_fault(_Known(text, schema))


@dataclass(frozen=True)
class _Known:
    """A schema, compared by its text, which tells apart what `==` takes for equal: `1`, `1.0` and `True`."""

    text: str
    schema: Mapping[str, Any] = field(compare=False)


@lru_cache(maxsize=512)
def _known_fault(known: _Known) -> str | None:
    schema = known.schema
    is_valid = is_plain(schema) and shape_fault(schema) is None and digest_if_json(schema) is not None
    return None if is_valid else _fault(schema)


def _fault(schema: Mapping[str, Any]) -> str | None:
    from planner_executor.graph.plan.bounded_schema import schema_fault  # takes long to import

    return schema_fault(schema)


def is_plain(schema: Any) -> bool:
    """Whether a schema has none but plain keywords, each with a value that it may have (draft 2020-12).

    Nothing is said of its size, nor whether data in it, such as defaults, are JSON.

    >>> is_plain({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]})
    True
    >>> is_plain({"type": "object", "required": "n"}), is_plain({"pattern": "^a"})
    (False, False)
    """
    if not isinstance(schema, dict):
        return isinstance(schema, bool)
    return all(keyword in PLAIN and PLAIN[keyword](value) for keyword, value in schema.items())


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len({*value}) == len(value)


def _is_count(value: Any) -> bool:
    return TYPES["integer"](value) and value >= 0


PLAIN: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("title", "description", "format", "$comment"), TYPES["string"]),
    **dict.fromkeys(("deprecated", "readOnly", "writeOnly"), TYPES["boolean"]),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), TYPES["number"]),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    **dict.fromkeys(("enum", "examples"), TYPES["array"]),
    **dict.fromkeys(("default", "const"), lambda _: True),
    **dict.fromkeys(("items", "additionalProperties"), is_plain),
    "type": lambda value: isinstance(value, str) and value in TYPES,
    "required": _are_names,
    "properties": lambda value: isinstance(value, dict) and all(map(is_plain, value.values())),
    "anyOf": lambda value: isinstance(value, list) and bool(value) and all(map(is_plain, value)),
}
"""Plain keywords, and what each may have."""
