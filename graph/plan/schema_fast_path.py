"""A quick yes to values that surely fit a JSON Schema; what is not sure is left to `jsonschema`.

That package is exact and slow: every keyword is looked up anew for every value. Most schemas of tools speak of little
more than types, and most arguments fit.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

Fits = Callable[[Any], bool]
FitsBut = Callable[[Mapping[str, Any], Collection[str]], bool]

TYPES: Mapping[str, Fits] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
SAID_ONLY = {"title", "description", "default", "examples", "format", "deprecated", "readOnly", "writeOnly", "$comment"}
OF_OBJECTS = {"type", "properties", "required", "additionalProperties"}


def quick_fit(schema: Any) -> Fits:
    """Return a test that is true for values that fit the schema, of draft 2020-12, and false where it does not know."""
    if schema is True:
        return lambda _: True
    if not isinstance(schema, Mapping):
        return lambda _: False
    told = set(schema) - SAID_ONLY
    kind = schema.get("type")
    if not told:
        return lambda _: True
    if told == {"anyOf"}:
        choices = [quick_fit(choice) for choice in schema["anyOf"]]
        return lambda value: any(fits(value) for fits in choices)
    if told == {"type", "items"} and kind == "array":
        of_item = quick_fit(schema["items"])
        return lambda value: isinstance(value, list) and all(map(of_item, value))
    if told <= OF_OBJECTS and kind == "object":
        of_object = quick_fit_but(schema, quick_fit(schema.get("additionalProperties", True)))
        return lambda value: isinstance(value, dict) and of_object(value, ())
    return TYPES.get(str(kind), _never) if told == {"type"} else _never


def _never(_: Any) -> bool:
    return False


def quick_fit_but(schema: Mapping[str, Any], of_other: Fits = _never) -> FitsBut:
    """Return such a test for objects; the properties it is told to skip have to be there, and are not looked at.

    Args:
        schema: The schema.
        of_other: The test of properties that the schema does not list.
    """
    if set(schema) - SAID_ONLY - OF_OBJECTS or schema.get("type") != "object":
        return lambda _value, _skipped: False
    tests = {name: quick_fit(part) for name, part in schema.get("properties", {}).items()}
    required = set(schema.get("required", ()))

    def fits(value: Mapping[str, Any], skipped: Collection[str]) -> bool:
        if not required <= value.keys():
            return False
        looked_at = (name for name in value if name not in skipped or name not in tests)
        return all(tests.get(name, of_other)(value[name]) for name in looked_at)

    return fits
