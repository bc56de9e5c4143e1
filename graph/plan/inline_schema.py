"""Whether a value fits a JSON Schema that stands in a plan. Such a schema stands for itself."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue
from referencing.exceptions import Unresolvable

from graph.plan import bounded_schema
from graph.plan.bounded_schema import errors_of
from graph.plan.schema_fast_path import quick_fit
from graph.plan.schema_shape import Places, schemas_in
from graph.plan.shortening import misfit_in_words
from graph.plan.work import TooMuchWork


def schema_fault(schema: Mapping[str, Any]) -> str | None:
    """Say why a schema cannot be used in a plan, or None where it can."""
    if not isinstance(schema.get("$schema", ""), str):
        return "$schema is text"
    return bounded_schema.schema_fault(schema) or _outside(schema)


def misfits(schema: Mapping[str, Any], value: JsonValue) -> list[str]:
    """Return what is wrong with a value, by a schema without fault."""
    try:
        if quick_fit(schema)(value):
            return []
        return [misfit_in_words(error) for error in errors_of(schema, value)]
    except TooMuchWork as error:
        return [f"whether it fits cannot be told: {error}"]
    except (Unresolvable, RecursionError) as error:
        return [f"its schema cannot be used: {error}"]


def _outside(schema: Mapping[str, Any]) -> str | None:
    """Say which reference leads out of the schema or to nothing."""
    parts = list(schemas_in(schema))
    places = Places(schema, parts)
    wanted = (part["$ref"] for part in parts if isinstance(part.get("$ref"), str))
    return next((f"{name!r} is not in it" for name in wanted if not isinstance(places.at(name), Mapping | bool)), None)
