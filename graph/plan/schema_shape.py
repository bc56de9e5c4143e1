"""The shape of a JSON Schema, looked at before any value is: how large and deep it is, and where it leads."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from graph.plan.patterns import pattern_fault

MOST_PARTS = 20_000
DEEPEST = 100
MOST_IN_PLACE = 2_000
"""How many schemas one value may be held to at once: what `allOf`, `anyOf`, `$ref` and the like add up to."""
SCHEMA_DATA = ("const", "enum", "default", "examples")
"""Keywords that hold data and no schema."""
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
_LISTS = ("allOf", "anyOf", "oneOf")
_ONE = ("not", "if", "then", "else")
_IF_THERE = ("dependentSchemas", "dependencies")
_MOVING = ("$dynamicRef", "$recursiveRef")
_LEFT_OVER = {"unevaluatedProperties", "unevaluatedItems"}


def shape_fault(schema: Mapping[str, Any]) -> str | None:
    """Say what makes a schema unusable whatever its keywords mean, or None where nothing does."""
    if fault := _size_fault(schema):
        return fault
    parts = list(schemas_in(schema))
    if fault := _mixture_fault(parts) or next(filter(None, (_part_fault(part, schema) for part in parts)), None):
        return fault
    places = Places(schema, parts)
    return next(filter(None, (_in_place_fault(part, places) for part in parts)), None)


def schemas_in(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the schema and those in it, as far as its keywords tell where they are."""
    stack: list[Any] = [schema]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            stack += part
        if not isinstance(part, Mapping):
            continue
        yield part
        for name, value in part.items():
            if name in _NAMED and isinstance(value, Mapping):
                stack += value.values()
            elif name not in SCHEMA_DATA:
                stack.append(value)


class Places:
    """Where the references within a schema lead, and how much holds at each place."""

    def __init__(self, schema: Mapping[str, Any], parts: Iterable[Mapping[str, Any]]) -> None:
        self._schema = schema
        self._anchors = {part["$anchor"]: part for part in parts if isinstance(part.get("$anchor"), str)}
        self._counts: dict[int, int] = {}

    def at(self, reference: Any) -> Any:
        """Return what a reference points at, or None where it points at nothing within.

        >>> Places({"$defs": {"a/b": {"type": "null"}}}, ()).at("#/$defs/a~1b")
        {'type': 'null'}
        """
        if not isinstance(reference, str):
            return None
        own, _, place = reference.partition("#")
        if own not in ("", str(self._schema.get("$id")).rstrip("#")):
            return None
        if not place.startswith("/"):
            return self._anchors.get(place) if place else self._schema
        part: Any = self._schema
        for name in unquote(place[1:]).split("/"):
            part = _within(part, name.replace("~1", "/").replace("~0", "~"))
        return part

    def count(self, part: Any, above: tuple[int, ...] = ()) -> int:
        """Return how many schemas hold for a value that is held to this one, each as often as it is come by.

        Raises:
            RecursionError: It refers to itself for the same value.
            OverflowError: They are more than `MOST_IN_PLACE`, or follow too long a chain.
        """
        if not isinstance(part, Mapping):
            return 0
        if (found := self._counts.get(id(part))) is not None:
            return found
        if id(part) in above:
            raise RecursionError
        if len(above) > DEEPEST:
            raise OverflowError
        here = (*above, id(part))
        found = 1 + sum(self.count(inner, here) for inner in self._beside(part))
        if found > MOST_IN_PLACE:
            raise OverflowError
        self._counts[id(part)] = found
        return found

    def _beside(self, part: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the schemas that a value is held to together with this one."""
        for name in _LISTS:
            yield from part[name] if isinstance(part.get(name), list) else ()
        yield from (part.get(name) for name in _ONE)
        for name in _IF_THERE:
            yield from part[name].values() if isinstance(part.get(name), Mapping) else ()
        yield self.at(part.get("$ref"))


def _within(part: Any, name: str) -> Any:
    if isinstance(part, list):
        return (
            part[int(name)] if name.isascii() and name.isdigit() and len(name) < 6 and int(name) < len(part) else None
        )
    return part.get(name) if isinstance(part, Mapping) else None


def _size_fault(schema: Mapping[str, Any]) -> str | None:
    stack: list[tuple[Any, int]] = [(schema, 0)]
    count = 0
    while stack:
        part, depth = stack.pop()
        count += 1
        if depth > DEEPEST:
            return f"it is nested deeper than {DEEPEST}"
        if count + len(stack) > MOST_PARTS:
            return f"it has more than {MOST_PARTS} parts"
        inner = part.values() if isinstance(part, Mapping) else part if isinstance(part, list) else ()
        stack += [(each, depth + 1) for each in inner]
    return None


def _mixture_fault(parts: Iterable[Mapping[str, Any]]) -> str | None:
    """Say which keywords cannot be used together: what is left over is found out without regard to work."""
    names = {name for part in parts for name in part}
    both = names & {"patternProperties", "dependentSchemas"} if names & _LEFT_OVER else ()
    return f"{min(both)} and {min(names & _LEFT_OVER)} cannot be used together" if both else None


def _part_fault(part: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    for name in _MOVING:
        if isinstance(part.get(name), str):
            return f"{name} cannot be used here; write $ref"
    if part is not schema and isinstance(part.get("$id"), str):
        return "$id stands at the root only"
    patterns = [part["pattern"]] if isinstance(part.get("pattern"), str) else []
    named = part.get("patternProperties")
    patterns += [name for name in named if isinstance(name, str)] if isinstance(named, Mapping) else []
    return next(filter(None, map(pattern_fault, patterns)), None)


def _in_place_fault(part: Mapping[str, Any], places: Places) -> str | None:
    try:
        places.count(part)
    except RecursionError:
        return "it refers to itself without end"
    except OverflowError:
        return f"more than {MOST_IN_PLACE} of its parts hold for the same value; simplify its allOf, anyOf and $ref"
    return None
