"""What became of each step since the plan before, field by field, as data."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plan.revision import difference
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.values import to_text
from planner_executor.graph.review.content import Change, FieldChange, shown

ANSWER = "answer"
"""Stands in the place of a step's id for the plan's answer."""


def changes_between(before: Plan | None, after: Plan) -> tuple[Change, ...]:
    """Return the steps that `after` adds, changes and removes, with what they were and are, and its answer."""
    return tuple(_changes(before or Plan(), after))


def _changes(before: Plan, after: Plan) -> Iterator[Change]:
    diff, was, now = difference(before, after), before.by_id, after.by_id
    # Without fields: all of an added step stands in the plan that is shown.
    yield from (Change(step=step, change="added") for step in diff.added)
    for step in diff.changed:
        yield Change(step=step, change="changed", fields=_differing(was[step].to_json(), now[step].to_json()))
    for step in diff.removed:
        # The id alone stays, and so is no difference.
        yield Change(step=step, change="removed", fields=_differing(was[step].to_json(), {"id": step}))
    if diff.answer:
        yield Change(step=ANSWER, change="changed", fields=_differing(_answer(before), _answer(after)))


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[FieldChange, ...]:
    was, now = _fields(before), _fields(after)
    return tuple(
        FieldChange(
            field=name,
            was=shown(was[name]) if name in was else None,
            now=shown(now[name]) if name in now else None,
        )
        for name in dict.fromkeys((*was, *now))
        # Also by their JSON: in Python 1, 1.0 and true are equal, but their digests differ, and so would the approval.
        if was.get(name) != now.get(name) or to_text(was.get(name)) != to_text(now.get(name))
    )


def _fields(step: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return the fields of a step, each argument as a field of its own."""
    fields = {name: value for name, value in step.items() if name != "args"}
    return {**fields, **{f"args.{name}": value for name, value in step.get("args", {}).items()}}


def _answer(plan: Plan) -> Mapping[str, JsonValue]:
    return {} if plan.answer is None else {ANSWER: plan.answer}
