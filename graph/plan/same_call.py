"""When two calls of a tool are the same: when their arguments are, in whatever spelling.

The order of keys and `1` against `1.0` are settled by the canonical form. An argument that has the value which the
tool's schema gives as its default counts as left out, at any depth.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from graph.plan.canonical import canonical_json, digest

MAX_PARTS = 200
"""How many parts of a schema are looked at for one argument: schemas may come from outside, and refer to themselves."""

Schema = Mapping[str, Any]


def call_digest(schema: Schema, args: Mapping[str, JsonValue]) -> str:
    """Return what two calls of a tool have in common if, and only if, they are the same.

    >>> schema = {"properties": {"to": {}, "copies": {"default": 1}}}
    >>> call_digest(schema, {"copies": 1.0, "to": "ann"}) == call_digest(schema, {"to": "ann"})
    True
    """
    return digest(_essential(dict(args), [schema], schema))


def _essential(value: JsonValue, schemas: Sequence[Any], root: Schema) -> JsonValue:
    """Return a value without what its schemas would give it anyway."""
    if not isinstance(value, dict | list):
        return value
    parts = list(_parts(schemas, root))
    if isinstance(value, list):
        items = [part["items"] for part in parts if isinstance(part.get("items"), Mapping)]
        return [_essential(item, items, root) for item in value]
    kept: dict[str, JsonValue] = {}
    for name, item in value.items():
        below = [part["properties"][name] for part in parts if name in _properties(part)]
        core = _essential(item, below, root)
        if not any(_is_one_of(part["default"], item, core) for part in _parts(below, root) if "default" in part):
            kept[name] = core
    return kept


def _properties(part: Schema) -> Schema:
    found = part.get("properties")
    return found if isinstance(found, Mapping) else {}


def _is_one_of(default: JsonValue, *values: JsonValue) -> bool:
    try:
        return canonical_json(default) in map(canonical_json, values)
    except (ValueError, TypeError, RecursionError):  # a default that is no JSON is nobody's value
        return False


def _parts(schemas: Sequence[Any], root: Schema) -> Iterator[Schema]:
    """Yield the schemas and what they are put together from, each once."""
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
    """Return what a reference within the schema points at, or None."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    part: Any = root
    for name in reference[2:].split("/"):
        part = part.get(name.replace("~1", "/").replace("~0", "~")) if isinstance(part, Mapping) else None
    return part
