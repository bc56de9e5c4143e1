"""What is wrong with an edited plan, each fault at its field, and what the edit changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.desk.views.schema_form import field_at
from planner_executor.graph.desk.views.step_form import ARGS, Tools, argument_fields, done_by, step_list
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.reading import ParsedPlan, read_plan
from planner_executor.graph.plan.revision import difference, read_revision
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.forbidden import forbidden


@dataclass(frozen=True)
class FormFault:
    """A fault of an edited plan; `name` is that of its field in the form, empty if it has none."""

    step: str
    name: str
    words: str
    message: str


def read_edit(shown: ShownRun, plan: Any, terms: ExecutionTerms) -> ParsedPlan:
    """Read an edited plan by the rules of the review; steps that succeeded cannot change."""
    current, succeeded = shown.run.plan, shown.record.steps.succeeded
    if current is None or not succeeded:
        parsed = read_plan(plan, terms.tools)
    else:
        parsed = read_revision(plan, current, succeeded, terms.tools)
    issues = forbidden(parsed.plan, terms, shown.record) if parsed.plan is not None else ()
    return replace(parsed, plan=None, issues=tuple(issues)) if issues else parsed


def changes_of(before: Plan | None, parsed: ParsedPlan) -> str:
    """Return what an edit changes, in a few words."""
    return str(difference(before, parsed.plan)) if parsed.plan is not None else ""


def by_step(issues: Sequence[Issue], plan: Any, tools: Tools, keys: Mapping[str, str]) -> dict[str, list[FormFault]]:
    """Return the faults of each step; those of the plan itself have the key "".

    Args:
        issues: The faults.
        plan: The plan as it was edited.
        tools: Those of the run, by name.
        keys: What names of fields begin with, by step; left out for those of the plan before.
    """
    steps = {step.get("id"): step for step in step_list(plan)}
    found: dict[str, list[FormFault]] = {}
    for issue in issues:
        name = issue.step or ""
        key = keys.get(name, f"step:{name}:") if name in steps else ""
        at = f"{key}{_field_name(issue.field, steps[name], tools)}" if key else ""
        found.setdefault(name, []).append(FormFault(name, at, issue.field, issue.message))
    return found


FIELD_NAMES = {"tool": "does", "tools": "does", "ask": "question", "gate": "question"}


def _field_name(field: str, step: Mapping[str, Any], tools: Tools) -> str:
    name = field.partition(".")[0].partition("[")[0]
    at = field_at(argument_fields(step, done_by(step), tools), field)
    return FIELD_NAMES.get(name, name) if at is None else ARGS + at.name
