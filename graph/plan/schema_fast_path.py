"""A fast path for values that clearly match a JSON Schema; all others are left to `jsonschema`.

`jsonschema` is exact but slow: it looks up every keyword for every value. Most tool schemas contain little more than
types, and most arguments match.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

Predicate = Callable[[Any], bool]
ObjectPredicate = Callable[[Mapping[str, Any], Collection[str]], bool]

TYPES: Mapping[str, Predicate] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
ANNOTATIONS = {
    "title",
    "description",
    "default",
    "examples",
    "format",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
}
OBJECT_KEYWORDS = {"type", "properties", "required", "additionalProperties"}


def fast_test(schema: Any) -> Predicate:
    """Return a test that is true only for values that match the schema (draft 2020-12); false means unknown."""
    if schema is True:
        return lambda _: True
    if not isinstance(schema, Mapping):
        return lambda _: False
    keywords = set(schema) - ANNOTATIONS
    kind = schema.get("type")
    if not keywords:
        return lambda _: True
    if keywords == {"anyOf"}:
        choices = [fast_test(choice) for choice in schema["anyOf"]]
        return lambda value: any(fits(value) for fits in choices)
    if keywords == {"type", "items"} and kind == "array":
        of_item = fast_test(schema["items"])
        return lambda value: isinstance(value, list) and all(map(of_item, value))
    if keywords <= OBJECT_KEYWORDS and kind == "object":
        of_object = fast_object_test(schema, fast_test(schema.get("additionalProperties", True)))
        return lambda value: isinstance(value, dict) and of_object(value, ())
    # Several types in a list are left to `jsonschema`, as every keyword that is not named here.
    return TYPES.get(str(kind), _never) if keywords == {"type"} else _never


def _never(_: Any) -> bool:
    return False


def fast_object_test(schema: Mapping[str, Any], of_other: Predicate = _never) -> ObjectPredicate:
    """Return such a test for objects; skipped properties count as present, but their values are not tested.

    Args:
        schema: The schema.
        of_other: The test for properties that the schema does not list.
    """
    if set(schema) - ANNOTATIONS - OBJECT_KEYWORDS or schema.get("type") != "object":
        return lambda _value, _skipped: False
    tests = {name: fast_test(part) for name, part in schema.get("properties", {}).items()}
    required = set(schema.get("required", ()))

    def fits(value: Mapping[str, Any], skipped: Collection[str]) -> bool:
        if not required <= value.keys():
            return False
        looked_at = (name for name in value if name not in skipped or name not in tests)
        return all(tests.get(name, of_other)(value[name]) for name in looked_at)

    return fits
