"""Limits on the size, depth and references of a JSON Schema, checked before it is applied to a value."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from planner_executor.graph.plan.patterns import pattern_fault

MAX_PARTS = 20_000
MAX_DEPTH = 100
MAX_IN_PLACE = 2_000
"""Limit of schemas that apply to one value at once through `allOf`, `anyOf`, `$ref` and the like."""
SCHEMA_DATA = ("const", "enum", "default", "examples")
"""Keywords that contain data, not schemas."""
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
_LISTS = ("allOf", "anyOf", "oneOf")
_ONE = ("not", "if", "then", "else")
_DEPENDENT = ("dependentSchemas", "dependencies")
_DYNAMIC = ("$dynamicRef", "$recursiveRef")
_UNEVALUATED = {"unevaluatedProperties", "unevaluatedItems"}


def shape_fault(schema: Mapping[str, Any]) -> str | None:
    """Return the structural fault of a schema, None if there is no fault."""
    if fault := size_fault(schema):
        return fault
    parts = list(subschemas(schema))
    if fault := _combination_fault(parts) or next(filter(None, (_part_fault(part, schema) for part in parts)), None):
        return fault
    references = LocalReferences(schema, parts)
    return next(filter(None, (_in_place_fault(part, references) for part in parts)), None)


def subschemas(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the schema and all its subschemas."""
    stack: list[Any] = [schema]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            stack += part
        if not isinstance(part, Mapping):
            continue
        yield part
        for name, value in part.items():
            # These keys are free names: a property may be called `default` or `enum`.
            if name in _NAMED and isinstance(value, Mapping):
                stack += value.values()
            elif name not in SCHEMA_DATA:
                stack.append(value)


class LocalReferences:
    """Resolves the references within a schema, and counts the schemas that apply in place."""

    def __init__(self, schema: Mapping[str, Any], parts: Iterable[Mapping[str, Any]]) -> None:
        self._schema = schema
        self._anchors = {part["$anchor"]: part for part in parts if isinstance(part.get("$anchor"), str)}
        self._counts: dict[int, int] = {}

    def at(self, reference: Any) -> Any:
        """Return the target of a reference, or None if there is no target within the schema.

        >>> LocalReferences({"$defs": {"a/b": {"type": "null"}}}, ()).at("#/$defs/a~1b")
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
        """Return the number of schemas that apply to a value of this one, counted once per path.

        Counts are cached per schema; without that, `$ref`s to `$ref`s would take exponential time.

        Raises:
            RecursionError: The schema refers to itself for the same value.
            OverflowError: The number exceeds `MAX_IN_PLACE`, or a chain of references `MAX_DEPTH`.
        """
        if not isinstance(part, Mapping):
            return 0
        if (found := self._counts.get(id(part))) is not None:
            return found
        if id(part) in above:
            raise RecursionError
        if len(above) > MAX_DEPTH:
            raise OverflowError
        here = (*above, id(part))
        found = 1 + sum(self.count(inner, here) for inner in self._applied_in_place(part))
        if found > MAX_IN_PLACE:
            raise OverflowError
        self._counts[id(part)] = found
        return found

    def _applied_in_place(self, part: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the schemas that apply to the same value as this one."""
        for name in _LISTS:
            yield from part[name] if isinstance(part.get(name), list) else ()
        yield from (part.get(name) for name in _ONE)
        for name in _DEPENDENT:
            yield from part[name].values() if isinstance(part.get(name), Mapping) else ()
        yield self.at(part.get("$ref"))


def _within(part: Any, name: str) -> Any:
    if isinstance(part, list):
        return (
            part[int(name)] if name.isascii() and name.isdigit() and len(name) < 6 and int(name) < len(part) else None
        )
    return part.get(name) if isinstance(part, Mapping) else None


def size_fault(schema: Mapping[str, Any]) -> str | None:
    """Return whether a schema is too deep or too large to look at further, None if it is not."""
    stack: list[tuple[Any, int]] = [(schema, 0)]
    count = 0
    while stack:
        part, depth = stack.pop()
        count += 1
        if depth > MAX_DEPTH:
            return f"it is nested deeper than {MAX_DEPTH}"
        if count + len(stack) > MAX_PARTS:
            return f"it has more than {MAX_PARTS} parts"
        inner = part.values() if isinstance(part, Mapping) else part if isinstance(part, list) else ()
        stack += [(each, depth + 1) for each in inner]
    return None


def _combination_fault(parts: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the fault of a forbidden combination: `jsonschema` evaluates these keywords without a bound on work."""
    names = {name for part in parts for name in part}
    both = names & {"patternProperties", "dependentSchemas"} if names & _UNEVALUATED else ()
    return f"{min(both)} and {min(names & _UNEVALUATED)} cannot be used together" if both else None


def _part_fault(part: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    for name in _DYNAMIC:
        if isinstance(part.get(name), str):
            return f"{name} is not supported; use $ref"
    if part is not schema and isinstance(part.get("$id"), str):
        return "$id is allowed at the root only"
    patterns = [part["pattern"]] if isinstance(part.get("pattern"), str) else []
    named = part.get("patternProperties")
    patterns += [name for name in named if isinstance(name, str)] if isinstance(named, Mapping) else []
    return next(filter(None, map(pattern_fault, patterns)), None)


def _in_place_fault(part: Mapping[str, Any], references: LocalReferences) -> str | None:
    try:
        references.count(part)
    except RecursionError:
        return "it refers to itself without end"
    except OverflowError:
        return f"more than {MAX_IN_PLACE} of its parts apply to the same value; simplify its allOf, anyOf and $ref"
    return None
