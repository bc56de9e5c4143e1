"""Equality of two calls of a tool.

The canonical form makes the order of keys and `1` against `1.0` irrelevant. An argument equal to its default in the
tool's schema counts as left out, at any depth.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import canonical_json, digest

MAX_PARTS = 200
"""Limit of subschemas searched per argument: untrusted schemas may be large or refer to themselves."""

Schema = Mapping[str, Any]


def call_digest(schema: Schema, args: Mapping[str, JsonValue]) -> str:
    """Return a digest that is equal for two calls of a tool exactly if they are the same call.

    >>> schema = {"properties": {"to": {}, "copies": {"default": 1}}}
    >>> call_digest(schema, {"copies": 1.0, "to": "ann"}) == call_digest(schema, {"to": "ann"})
    True
    """
    return digest(_without_defaults(dict(args), [schema], schema))


def _without_defaults(value: JsonValue, schemas: Sequence[Any], root: Schema) -> JsonValue:
    """Return a value without the parts that equal a default of its schemas."""
    if not isinstance(value, dict | list):
        return value
    parts = list(_applicable(schemas, root))
    if isinstance(value, list):
        items = [part["items"] for part in parts if isinstance(part.get("items"), Mapping)]
        return [_without_defaults(item, items, root) for item in value]
    kept: dict[str, JsonValue] = {}
    for name, item in value.items():
        below = [part["properties"][name] for part in parts if name in _properties(part)]
        # Defaults of the parts are taken out first, so that an object of defaults equals its own default.
        core = _without_defaults(item, below, root)
        if not any(_equals_any(part["default"], item, core) for part in _applicable(below, root) if "default" in part):
            kept[name] = core
    return kept


def _properties(part: Schema) -> Schema:
    found = part.get("properties")
    return found if isinstance(found, Mapping) else {}


def _equals_any(default: JsonValue, *values: JsonValue) -> bool:
    try:
        return canonical_json(default) in map(canonical_json, values)
    except (ValueError, TypeError, RecursionError):  # a default that is not JSON equals no argument
        return False


def _applicable(schemas: Sequence[Any], root: Schema) -> Iterator[Schema]:
    """Yield the schemas and their combined and referenced parts, each once."""
    waiting, seen = list(schemas), set[int]()
    while waiting and len(seen) < MAX_PARTS:
        part = waiting.pop(0)
        if isinstance(part, Mapping) and id(part) not in seen:
            seen.add(id(part))
            yield part
            for name in ("allOf", "anyOf", "oneOf"):
                waiting += part[name] if isinstance(part.get(name), list) else ()
            waiting.append(_referred(part.get("$ref"), root))


def _referred(reference: Any, root: Schema) -> Any:
    """Return the target of a reference within the schema, or None."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    part: Any = root
    for name in reference[2:].split("/"):
        part = part.get(name.replace("~1", "/").replace("~0", "~")) if isinstance(part, Mapping) else None
    return part
