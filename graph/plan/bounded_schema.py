"""JSON Schema without surprises in time: patterns by RE2, everything counted, and a look at the schema beforehand.

`jsonschema` takes patterns for Python's, compares lists item by item with all others, and goes through a schema as
often as its references lead there. Here each keyword counts what it does, so that a schema from a stranger, or one that
a model wrote, ends in a fault and never in a process that hangs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import attrs
from jsonschema import validators
from jsonschema.exceptions import ValidationError
from pydantic import JsonValue
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import SchemaRegistry

from graph.plan.canonical import canonical_json
from graph.plan.patterns import MOST_CHARACTERS, holds, pattern_fault
from graph.plan.schema_shape import shape_fault
from graph.plan.work import TooMuchWork, at_most, spend, spend_size

NOTHING_REMOTE: SchemaRegistry = Registry()
MOST_WORK = 300_000
"""Steps that holding one value to one schema may take; about a second."""
MOST_ERRORS = 50
_CHARACTERS_A_STEP = 200
_ENTRIES_A_STEP = 10
_WHOLE = {"const", "enum", "dependentRequired", "dependencies"}
_EACH_WITH_ALL = {"unevaluatedItems", "unevaluatedProperties"}
_OVER_THE_VALUE = {"items", "additionalItems", "contains", "additionalProperties", "propertyNames", "uniqueItems"}

Keyword = Callable[[Any, Any, Any, Any], Iterable[ValidationError] | None]


def schema_fault(schema: Mapping[str, Any]) -> str | None:
    """Say why a schema is none or cannot be used, or None where it can; it is not a matter of any value."""
    try:
        if fault := shape_fault(schema):
            return fault
        canonical_json(dict(schema))
        kind = validators.validator_for(schema, default=validators.validator_for({}))
        with at_most(MOST_WORK):
            meta = _bounded(kind)(kind.META_SCHEMA)
            return next((error.message for error in meta.iter_errors(dict(schema))), None) or _fault_in_use(schema)
    except TooMuchWork as error:
        return f"to look at it {error}"
    except (ValueError, TypeError) as error:
        return f"it is no JSON: {error}"
    except RecursionError:
        return "it is nested too deeply, or refers to itself without end"


def errors_of(schema: Mapping[str, Any], value: JsonValue) -> Iterator[ValidationError]:
    """Yield what is wrong with a value, the first `MOST_ERRORS` of it, by a schema without fault.

    Raises:
        TooMuchWork: There is no telling within `MOST_WORK` steps.
        Unresolvable: The schema points outside itself.
        RecursionError: The value is nested too deeply for it.
    """
    with at_most(MOST_WORK):
        found = []
        for error in checker(schema).iter_errors(value):
            found.append(error)
            if len(found) == MOST_ERRORS:
                break
    yield from found


def checker(schema: Mapping[str, Any]) -> Any:
    """Return what holds values to a schema; it is to be used within a bound of work."""
    kind = validators.validator_for(schema, default=validators.validator_for({}))
    return _bounded(kind)(dict(schema), registry=NOTHING_REMOTE)


def _fault_in_use(schema: Mapping[str, Any]) -> str | None:
    """Say why a schema cannot even be held against an empty object."""
    try:
        next(checker(schema).iter_errors({}), None)
    except (Unresolvable, TooMuchWork, RecursionError) as error:
        return None if isinstance(error, Unresolvable) else str(error)
    return None


@lru_cache
def _bounded(kind: Any) -> Any:
    """Return a draft of JSON Schema that counts; a `$schema` further in does not lead out of it."""
    extend: Any = validators.extend
    found = extend(kind, {name: _counted(name, OURS.get(name, given)) for name, given in kind.VALIDATORS.items()})
    found.evolve = _evolved
    return found


def _evolved(checker: Any, **changes: Any) -> Any:
    for part in attrs.fields(type(checker)):
        if part.init:
            changes.setdefault(part.alias, getattr(checker, part.name))
    return type(checker)(**changes)


def _counted(name: str, keyword: Keyword) -> Keyword:
    def counted(checker: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        spend(1)
        if name in _WHOLE:
            spend_size(wanted)
        elif isinstance(wanted, dict | list):
            spend(len(wanted) // _ENTRIES_A_STEP)
        if isinstance(value, dict | list):
            spend(len(value) // _ENTRIES_A_STEP if name in _OVER_THE_VALUE else 0)
            spend(len(value) ** 2 // _ENTRIES_A_STEP if name in _EACH_WITH_ALL else 0)
        for error in keyword(checker, wanted, value, schema) or ():
            spend(len(error.message) // _CHARACTERS_A_STEP)
            yield error

    return counted


def _pattern(checker: Any, pattern: str, value: Any, _: Any) -> Iterator[ValidationError]:
    if not checker.is_type(value, "string"):
        return
    if fault := pattern_fault(pattern):
        yield ValidationError(fault)
    elif not holds(pattern, value):
        long = (
            f"; texts of more than {MOST_CHARACTERS} characters match nothing" if len(value) > MOST_CHARACTERS else ""
        )
        yield ValidationError(f"{value[:1000]!r} does not match {pattern!r}{long}")


def _pattern_properties(checker: Any, patterns: Any, value: Any, _: Any) -> Iterator[ValidationError]:
    if not checker.is_type(value, "object"):
        return
    for pattern, part in patterns.items():
        for name, item in value.items():
            if matches(pattern, name):
                yield from checker.descend(item, part, path=name, schema_path=pattern)


def _additional_properties(checker: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    if not checker.is_type(value, "object"):
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    extras = [name for name in value if name not in known and not any(matches(pattern, name) for pattern in patterns)]
    if checker.is_type(wanted, "object"):
        for name in extras:
            yield from checker.descend(value[name], wanted, path=name)
    elif not wanted and extras:
        listed = ", ".join(repr(name) for name in sorted(extras)[:20])
        verb = "was" if len(extras) == 1 else "were"
        yield ValidationError(f"Additional properties are not allowed ({listed} {verb} unexpected)")


def matches(pattern: str, name: str) -> bool:
    """Whether the name of a property matches a pattern; one that cannot be used matches nothing."""
    return pattern_fault(pattern) is None and holds(pattern, name)


def _unique_items(checker: Any, wanted: Any, value: Any, _: Any) -> Iterator[ValidationError]:
    if not wanted or not checker.is_type(value, "array"):
        return
    seen: set[bytes] = set()
    for item in value:
        text = canonical_json(item)
        spend(len(text) // _CHARACTERS_A_STEP)
        if text in seen:
            yield ValidationError(f"{str(value)[:1000]} has non-unique elements")
            return
        seen.add(text)


OURS: Mapping[str, Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
}
"""Keywords that the package evaluates with Python's patterns, or in quadratic time."""
