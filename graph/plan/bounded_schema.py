"""JSON Schema validation in bounded time: RE2 patterns, counted work, and schemas checked before they are used.

`jsonschema` matches patterns with Python's `re`, compares the items of `uniqueItems` pairwise, and follows references
any number of times. Here each keyword counts its work, so that an untrusted schema leads to a fault and never to a
process that hangs (docs/decisions/0029-bounded-work.md).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import attrs
from jsonschema import validators
from jsonschema.exceptions import ValidationError
from pydantic import JsonValue
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import SchemaRegistry

from planner_executor.graph.plan.canonical import canonical_json
from planner_executor.graph.plan.patterns import MAX_CHARACTERS, has_match, is_match, pattern_fault
from planner_executor.graph.plan.schema_shape import shape_fault
from planner_executor.graph.plan.work import WorkLimitExceeded, spend, spend_size, work_limit

NO_REMOTE_SCHEMAS: SchemaRegistry = Registry()
MAX_WORK = 300_000
"""Limit of work for one value and one schema; about a second."""
MAX_ERRORS = 50
_CHARACTERS_A_STEP = 200
_ENTRIES_A_STEP = 10
_COMPARED_WHOLE = {"const", "enum", "dependentRequired", "dependencies"}
_QUADRATIC = {"unevaluatedItems", "unevaluatedProperties"}
_LINEAR = {"items", "additionalItems", "contains", "additionalProperties", "propertyNames", "uniqueItems"}

Keyword = Callable[[Any, Any, Any, Any], Iterable[ValidationError]]


def schema_fault(schema: Mapping[str, Any]) -> str | None:
    """Return why a schema is invalid or unusable for any value, or None if it is neither."""
    try:
        # First of all: what is too large, or refers to itself for the same value, must not be applied to anything.
        if fault := shape_fault(schema):
            return fault
        # For its error alone: a schema that a caller gives in Python may hold what JSON cannot, such as NaN.
        canonical_json(dict(schema))
        kind = validators.validator_for(schema, default=validators.validator_for({}))
        with work_limit(MAX_WORK):
            meta = _bounded(kind)(kind.META_SCHEMA)
            for error in meta.iter_errors(dict(schema)):
                return str(error.message)
            with suppress(Unresolvable):
                next(checker(schema).iter_errors({}), None)  # some faults show only when a schema is applied
            return None
    except WorkLimitExceeded as error:
        return f"checking it {error}"
    except (ValueError, TypeError) as error:
        return f"it is not JSON: {error}"
    except RecursionError:
        return "it is nested too deeply, or refers to itself without end"


def bounded_errors(schema: Mapping[str, Any], value: JsonValue) -> Iterator[ValidationError]:
    """Yield the first `MAX_ERRORS` errors of a value under a schema without faults.

    Raises:
        WorkLimitExceeded: Validation takes more than `MAX_WORK` steps.
        Unresolvable: A reference leads outside the schema.
        RecursionError: The value is nested too deeply.
    """
    with work_limit(MAX_WORK):
        found = []
        for error in checker(schema).iter_errors(value):
            found.append(error)
            if len(found) == MAX_ERRORS:
                break
    # Behind the block: a limit that stayed in force between two errors would count what their reader does.
    yield from found


def checker(schema: Mapping[str, Any]) -> Any:
    """Return a validator for a schema; use it within `work_limit`."""
    kind = validators.validator_for(schema, default=validators.validator_for({}))
    return _bounded(kind)(dict(schema), registry=NO_REMOTE_SCHEMAS)


@lru_cache
def _bounded(kind: Any) -> Any:
    """Return the validator class of a draft with keywords that count their work."""
    extend: Any = validators.extend
    found = extend(kind, {name: _counted(name, OVERRIDES.get(name, given)) for name, given in kind.VALIDATORS.items()})
    found.evolve = _evolved  # jsonschema's `evolve` picks the class by a nested `$schema`, and so leaves this one
    return found


def _evolved(checker: Any, **changes: Any) -> Any:
    for part in attrs.fields(type(checker)):
        if part.init:
            changes.setdefault(part.alias, getattr(checker, part.name))
    return type(checker)(**changes)


def _counted(name: str, keyword: Keyword) -> Keyword:
    def counted(checker: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        spend(1)
        if name in _COMPARED_WHOLE:
            spend_size(wanted)
        elif isinstance(wanted, dict | list):
            spend(len(wanted) // _ENTRIES_A_STEP)
        if isinstance(value, dict | list):
            spend(len(value) // _ENTRIES_A_STEP if name in _LINEAR else 0)
            spend(len(value) ** 2 // _ENTRIES_A_STEP if name in _QUADRATIC else 0)
        for error in keyword(checker, wanted, value, schema):
            # An error quotes the value in its message, so many errors about a large one take long to write.
            spend(len(error.message) // _CHARACTERS_A_STEP)
            yield error

    return counted


def _pattern(checker: Any, pattern: str, value: Any, _: Any) -> Iterator[ValidationError]:
    if not checker.is_type(value, "string"):
        return
    if fault := pattern_fault(pattern):
        yield ValidationError(fault)
    elif not has_match(pattern, value):
        long = f"; texts of more than {MAX_CHARACTERS} characters match nothing" if len(value) > MAX_CHARACTERS else ""
        yield ValidationError(f"{value[:1000]!r} does not match {pattern!r}{long}")


def _pattern_properties(checker: Any, patterns: Any, value: Any, _: Any) -> Iterator[ValidationError]:
    if not checker.is_type(value, "object"):
        return
    for pattern, part in patterns.items():
        for name, item in value.items():
            if is_match(pattern, name):
                yield from checker.descend(item, part, path=name, schema_path=pattern)


def _additional_properties(checker: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    if not checker.is_type(value, "object"):
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    extras = [name for name in value if name not in known and not any(is_match(pattern, name) for pattern in patterns)]
    if checker.is_type(wanted, "object"):
        for name in extras:
            yield from checker.descend(value[name], wanted, path=name)
    elif not wanted and extras:
        # In the words of jsonschema, whose own check has no bound on its work.
        listed = ", ".join(repr(name) for name in sorted(extras)[:20])
        verb = "was" if len(extras) == 1 else "were"
        yield ValidationError(f"Additional properties are not allowed ({listed} {verb} unexpected)")


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


OVERRIDES: Mapping[str, Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
}
"""Replacements for keywords that `jsonschema` evaluates with Python's `re` or in quadratic time."""
