"""Conditions of steps: a step whose `when` is false is skipped.

`of` is any JSON with references, and `condition` a JMESPath over it, which has to give true or false.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import canonical_json
from planner_executor.graph.plan.check import OF
from planner_executor.graph.plan.expressions import jmespath_fault

When = dict[str, JsonValue]
CONDITION = "condition"

WHEN_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {OF: {}, CONDITION: {"type": "string"}},
    "required": [OF, CONDITION],
    "additionalProperties": False,
}
"""JSON Schema of a condition, for model servers that enforce an output schema."""


def of_when(when: Any) -> Any:
    """Return the value that a condition is about, None without a readable condition."""
    return when.get(OF) if isinstance(when, Mapping) else None


def describe_when(when: When) -> str:
    """Return a condition in readable form.

    >>> describe_when({"of": "{a_result.total}", "condition": "@ > `100`"})
    '@ > `100` of {a_result.total}'
    """
    of = of_when(when)
    return f"{when[CONDITION]} of {of if isinstance(of, str) else canonical_json(of).decode()}"


def when_faults(when: Any) -> Iterator[tuple[str, str]]:
    """Yield (field, fault) of a condition as its author wrote it."""
    if not isinstance(when, Mapping):
        return  # absent, or its type is a fault of its own
    for name in when:
        if name not in (OF, CONDITION):
            yield "when", f"unknown key {name!r}; a condition has {OF} and {CONDITION}"
    if when.get(OF) is None:
        yield f"when.{OF}", "is missing; give what the condition is about, such as '{step_1_result.total}'"
    if fault := jmespath_fault(when.get(CONDITION)):
        yield f"when.{CONDITION}", fault
