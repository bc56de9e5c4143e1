"""Validation against a JSON Schema that is part of a plan; such a schema refers to nothing outside itself."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plan.schema_fast_path import fast_test
from planner_executor.graph.plan.schema_shape import LocalReferences, subschemas
from planner_executor.graph.plan.shortening import describe_schema_error
from planner_executor.graph.plan.work import WorkLimitExceeded


def inline_schema_fault(schema: Mapping[str, Any]) -> str | None:
    """Return why a schema cannot be used in a plan, or None if it can."""
    if not isinstance(schema.get("$schema", ""), str):
        return "$schema must be text"
    from planner_executor.graph.plan.bounded_schema import schema_fault  # takes long to import

    return schema_fault(schema) or _dangling_reference(schema)


def schema_errors(schema: Mapping[str, Any], value: JsonValue, *, placed: bool = False) -> list[str]:
    """Return the errors of a value under a schema without faults; `placed` puts before each where it is.

    >>> schema_errors({"properties": {"n": {"items": {"type": "integer"}}}}, {"n": ["x"]}, placed=True)
    ["n[0]: 'x' is not of type 'integer'"]
    """
    from referencing.exceptions import Unresolvable

    from planner_executor.graph.plan.bounded_schema import bounded_errors  # takes long to import

    try:
        if fast_test(schema)(value):
            return []
        found = bounded_errors(schema, value)
        return [(_place(error.absolute_path) if placed else "") + describe_schema_error(error) for error in found]
    except WorkLimitExceeded as error:
        return [f"it cannot be validated: {error}"]
    except (Unresolvable, RecursionError) as error:
        return [f"its schema cannot be used: {error}"]


def _place(path: Iterable[str | int]) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return f"{place.removeprefix('.')}: " if place else ""


def _dangling_reference(schema: Mapping[str, Any]) -> str | None:
    """Return the fault of a reference that has no target within the schema."""
    parts = list(subschemas(schema))
    references = LocalReferences(schema, parts)
    wanted = (part["$ref"] for part in parts if isinstance(part.get("$ref"), str))
    return next(
        (f"{name!r} is not in it" for name in wanted if not isinstance(references.at(name), Mapping | bool)), None
    )
