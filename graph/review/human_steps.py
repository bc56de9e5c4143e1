"""Steps that need a person: questions and gates."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plan.inline_schema import schema_errors
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.steps import due_in
from planner_executor.graph.record.values import to_text

PASSED = "passed"
"""The result of a gate that a person has passed."""


def open_questions(plan: Plan, record: RunState) -> list[Step]:
    """Return the questions and gates of a plan that are due."""
    asked = [
        step for step in plan.steps if kind_spec(step.kind).done_by == "person" and not record.steps.is_settled(step.id)
    ]
    return due_in(plan, record.steps, asked)


def fit_answer(given: JsonValue, schema: Any) -> tuple[JsonValue, str | None]:
    """Return (answer, fault): the answer as its schema requires it, JSON turned back into text if need be.

    >>> fit_answer(5, {"type": "string"})
    ('5', None)
    """
    if not isinstance(schema, Mapping):
        return given, None
    faults = []
    # As it was given first. A chat's field is read as JSON, so an answer such as 12345 may have been meant as text.
    for answer in (given, *([to_text(given)] if not isinstance(given, str) else [])):
        found = schema_errors(schema, answer)
        if not found:
            return answer, None
        faults += found
    # The fault of what the person gave, not of our text of it.
    return given, faults[0]
