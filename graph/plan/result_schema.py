"""The schema of an answer that is a step's result, for servers that enforce one; validation does not rely on it."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from pydantic import JsonValue

from planner_executor.graph.plan.normalization import CANNOT
from planner_executor.graph.plan.schema_shape import subschemas

RESULT = "result"
"""The title of such a schema, and the key of the result in an answer that keeps to it."""
OF_THE_WHOLE = frozenset({"$ref", "$defs", "definitions", "$id", "$anchor", "$dynamicRef", "$schema"})
"""Keywords that mean something else within another schema, or are no part of one that servers know."""


def result_schema(output: Literal["json"] | Mapping[str, JsonValue] | None) -> dict[str, Any] | None:
    """Return the schema of an answer with a result of this form, or with the words of a model that cannot.

    Servers want an object as a whole, so the result is a part of it. There is none for any JSON, and for a schema with
    references.
    """
    if not isinstance(output, Mapping) or any(not OF_THE_WHOLE.isdisjoint(part) for part in subschemas(output)):
        return None
    return _schema(json.dumps(output))


@lru_cache(maxsize=64)
def _schema(output: str) -> dict[str, Any]:
    """Return the schema, the same object for the items of a list: models are bound to each schema once."""
    return {
        "title": RESULT,
        "description": "The result of the step, or why it cannot be done.",
        "type": "object",
        "properties": {RESULT: json.loads(output), CANNOT: {"type": "string"}},
        "additionalProperties": False,
    }


def result_in(value: Any) -> Any:
    """Return the result in an answer that keeps to such a schema, any other value unchanged.

    >>> result_in({"result": 3, "cannot": ""}), result_in({"result": 3, "n": 1})
    (3, {'result': 3, 'n': 1})
    """
    keeps = isinstance(value, dict) and RESULT in value and set(value) <= {RESULT, CANNOT} and not value.get(CANNOT)
    return value[RESULT] if keeps else value
