"""What is wrong with the type of a field, in the words of a plan; pydantic's own are about Python."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from planner_executor.graph.words.validation_message import fault_message

WORDS = {
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must be a letter, then letters, digits and underscores",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "int_type": "must be an integer",
    "bool_type": "must be true or false",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be at least {ge}",
}
OF_SEVERAL_TYPES = {
    "output": 'must be "json" or a JSON Schema',
    "timeout_s": "must be a number of seconds",
    "backoff_s": "must be a number of seconds",
}
"""Fields of several types, for each of which pydantic reports an error of its own."""
NO_UTF8 = "string_unicode"
"""Reported by `graph.plan.json_values` already, with the place within the value."""


def field_errors(error: ValidationError) -> dict[str, str]:
    """Return field -> fault of the fields that have a wrong type.

    >>> from planner_executor.graph.plan.schema import Step
    >>> try:
    ...     Step(id="1", objective="count", output=3, tools=[4])
    ... except ValidationError as error:
    ...     sorted(field_errors(error).items())[1:]
    [('output', 'must be "json" or a JSON Schema'), ('tools[0]', 'must be text')]
    """
    return dict(_fault(part) for part in error.errors(include_url=False) if part["type"] != NO_UTF8)


def _fault(part: Mapping[str, Any]) -> tuple[str, str]:
    head, *rest = part["loc"]
    if part["type"] == "missing":
        return head, f"missing; every step needs {head}"
    words = WORDS.get(part["type"])
    if head in OF_SEVERAL_TYPES and (rest or words is None):
        return head, OF_SEVERAL_TYPES[head]
    place = head + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in rest)
    return place, words.format(**part.get("ctx", {})) if words is not None else fault_message(part)
