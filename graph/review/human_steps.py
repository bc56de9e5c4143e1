"""What a plan itself asks of a person: answers to questions, and looks at what there is before it goes on."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from graph.plan.inline_schema import misfits
from graph.plan.kinds.table import kind_spec
from graph.plan.schedule import waits_for
from graph.plan.schema import Plan, Step
from graph.record.run_state import RunState
from graph.record.values import to_text

GATE = "gate"
"""What a review calls a gate in the place of a tool's name."""
PASSED = "passed"
"""The result of a gate that a person has let the run through."""


def open_questions(plan: Plan, record: RunState) -> list[Step]:
    """Return the questions and gates of a plan that are due: all they wait for has succeeded."""
    asked = [
        step for step in plan.steps if kind_spec(step.kind).done_by == "person" and step.id not in record.succeeded
    ]
    if not asked:
        return []
    waits, succeeded = waits_for(plan.steps), record.succeeded
    return [step for step in asked if succeeded.issuperset(waits[step.id])]


def fitting_answer(given: JsonValue, schema: Any) -> tuple[JsonValue, str | None]:
    """Return an answer as its schema wants it, and what is wrong with it; JSON that has to be text is text again.

    >>> fitting_answer(5, {"type": "string"})
    ('5', None)
    """
    if not isinstance(schema, Mapping):
        return given, None
    faults = []
    for answer in (given, *([to_text(given)] if not isinstance(given, str) else [])):
        found = misfits(schema, answer)
        if not found:
            return answer, None
        faults += found
    return given, faults[0]
