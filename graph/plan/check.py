"""A check: a condition on the result of a step that code evaluates.

A check is an object with one key of `graph.plan.checks.KINDS`; with `of`, a JMESPath, it applies to a part of
the result.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import canonical_json

Check = Mapping[str, JsonValue]
OF = "of"

CHECK_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "schema": {"type": "object"},
        "condition": {"type": "string"},
        "matches": {"type": "string"},
        "range": {"type": "array", "items": {"type": ["number", "null"]}},
        "non_empty": {"enum": [True]},
        "file_exists": {"type": "string"},
        "cites": {"type": "integer"},
        "called": {"type": "string"},
        OF: {"type": "string"},
    },
    "additionalProperties": False,
}
"""JSON Schema of a check, for model servers that enforce an output schema."""


def check_kind(check: Check) -> str:
    """Return the kind of a check without faults, a key of `KINDS`."""
    return next(name for name in check if name != OF)


def describe_check(check: Check) -> str:
    """Return a check in readable form.

    >>> describe_check({"range": [0, None], "of": "total"}), describe_check({"non_empty": True})
    ('range [0,null] of total', 'non_empty')
    """
    kind = check_kind(check)
    wanted = check[kind]
    operand = "" if wanted is True else f" {wanted if isinstance(wanted, str) else canonical_json(wanted).decode()}"
    return f"{kind}{operand}{f' of {check[OF]}' if OF in check else ''}"
