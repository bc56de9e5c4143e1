"""Whether a value fits a JSON Schema that stands in a plan. Such a schema stands for itself and is bounded in time."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from jsonschema import validators
from jsonschema.exceptions import ValidationError
from pydantic import JsonValue
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from graph.plan.catalog import NOTHING_REMOTE, ToolSpec
from graph.plan.patterns import found_in, pattern_fault
from graph.plan.shortening import misfit_in_words


def schema_fault(schema: Mapping[str, Any]) -> str | None:
    """Say why a schema cannot be used in a plan, or None where it can."""
    if not isinstance(schema.get("$schema", ""), str):
        return "$schema is text"
    return ToolSpec(name="schema", description="", schema=schema).schema_fault() or _fault_within(schema)


def misfits(schema: Mapping[str, Any], value: JsonValue) -> list[str]:
    """Return what is wrong with a value, by a schema without fault."""
    checker = _bounded(validators.validator_for(schema))(schema, registry=NOTHING_REMOTE)
    try:
        return [misfit_in_words(error) for error in checker.iter_errors(value)]
    except (Unresolvable, RecursionError) as error:
        return [f"its schema cannot be used: {error}"]


@lru_cache
def _bounded(kind: Any) -> Any:
    extend: Any = validators.extend
    return extend(kind, {"pattern": _pattern})


def _pattern(checker: Any, pattern: str, value: JsonValue, _: Any) -> Iterator[ValidationError]:
    if checker.is_type(value, "string") and found_in(pattern, str(value)) is None:
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _fault_within(schema: Mapping[str, Any]) -> str | None:
    """Say which reference leads out of the schema or to nothing, or which pattern cannot be used."""
    inside = NOTHING_REMOTE.with_resource("", DRAFT202012.create_resource(schema)).resolver()
    stack: list[Any] = [schema]
    while stack:
        part = stack.pop()
        stack += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        if not isinstance(part, dict):
            continue
        if isinstance(part.get("patternProperties"), dict):
            return "patternProperties cannot be used here; name the properties"
        if isinstance(part.get("pattern"), str) and (fault := pattern_fault(part["pattern"])):
            return fault
        if isinstance(part.get("$ref"), str):
            try:
                inside.lookup(part["$ref"])
            except Unresolvable:
                return f"{part['$ref']!r} is not in it"
    return None
