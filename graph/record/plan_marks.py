"""What of a plan carries the mark of a model that had read untrusted data when it wrote it.

After steps have run, that is every argument of what the model wrote. After mere looks, an argument is free of the mark
if it is a reference, which has a label of its own, if it stands as a whole in the user's words, or if a revision that
people approved had it for that tool and argument.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import canonical_json
from planner_executor.graph.plan.references import Reference, pieces
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.trust_label import PLAN, TrustLabel


def plan_marks(record: RunState, step: Step) -> dict[str, TrustLabel]:
    """Return argument -> mark, for the arguments of a step of the plan in force that carry it."""
    state = record.plan_state
    if step.id not in state.tainted:
        return {}
    return dict.fromkeys(seen_args(record, step) if state.is_by_look else step.args, PLAN)


def seen_args(record: RunState, step: Step) -> list[str]:
    """Return the arguments of a step that a model may have from what it looked at, and from nowhere else."""
    return [name for name in step.args if not _is_known(record, step, name)]


def _is_known(record: RunState, step: Step, name: str) -> bool:
    value = step.args[name]
    if step.argument_references[name]:
        return _is_reference(value)
    words = (record.assignment.started.goal, *record.assignment.constraints)
    return any(_is_stated(value, text) for text in words) or _was_approved(record, step, name, value)


def _is_reference(value: JsonValue) -> bool:
    """Whether a value is one reference, or consists of such values."""
    if isinstance(value, dict | list):
        return all(map(_is_reference, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and [type(part) for part in pieces(value)] == [Reference]


def _is_stated(value: JsonValue, words: str) -> bool:
    """Whether a value stands as a whole in a text.

    >>> _is_stated("a@b.example", "Write to a@b.example."), _is_stated("b.example", "Write to a@b.example.")
    (True, False)
    """
    if isinstance(value, list):
        return bool(value) and all(_is_stated(item, words) for item in value)
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
        return False
    # `b.example` is not stated by `a@b.example`, nor `pay` by `payroll`: a part of a word may mean something else.
    return re.search(rf"(?<![\w@./-]){re.escape(str(value))}(?![\w@/-]|\.\w)", words) is not None


def _was_approved(record: RunState, step: Step, name: str, value: JsonValue) -> bool:
    return any(
        # As text, since `1 == True == 1.0` in Python.
        name in other.get("args", {}) and canonical_json(other["args"][name]) == canonical_json(value)
        for other in _approved_steps(record)
        if {other.get("tool"), *other.get("tools", ())} & set(step.tool_names)
    )


def _approved_steps(record: RunState) -> Iterator[Mapping[str, Any]]:
    state = record.plan_state
    for digest in state.approved_by_people & state.approved_plans.keys():
        yield from state.approved_plans[digest].get("steps", ())
