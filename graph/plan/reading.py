"""Reading a plan: any accepted form is normalized and validated as a whole, and every fault is listed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from pydantic import JsonValue, ValidationError

from planner_executor.graph.plan.broken_json import broken_json
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.draft import StepDraft
from planner_executor.graph.plan.field_errors import field_errors
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.json_values import TOO_DEEP, json_faults
from planner_executor.graph.plan.normalization import group_notes, name_of, read_fields, unknown_key, unwrap
from planner_executor.graph.plan.params import NO_PARAMS, Param, Params, params_faults, params_json
from planner_executor.graph.plan.schema import MAX_STEPS, Plan, Step
from planner_executor.graph.plan.validation import graph_issues, step_issues
from planner_executor.graph.plan.work import WorkLimitExceeded, work_limit

MAX_WORK = 10_000_000
"""Limit of work for all schemas and arguments of one plan, counted by `graph.plan.work`."""


@dataclass(frozen=True)
class ParsedPlan:
    """The outcome of reading: a valid plan, its issues, or why there can be none; `notes` describe normalizations.

    `on_comments` is what a planner says beside it of the comments on steps: step id -> words. `playbooks` has
    the playbooks that a planner chose: name, version, digest, and the step that it is, None for the whole plan.
    """

    plan: Plan | None
    issues: tuple[Issue, ...] = ()
    notes: tuple[str, ...] = ()
    cannot: str = ""
    on_comments: Mapping[str, str] = field(default_factory=dict)
    playbooks: tuple[Mapping[str, JsonValue], ...] = ()


def read_plan(
    raw: Any, tools: Mapping[str, ToolSpec], max_steps: int = MAX_STEPS, params: Params | None = None
) -> ParsedPlan:
    """Read a plan in any accepted form and validate it as a whole, with bounded work.

    Args:
        raw: A JSON value as a model, a person or a caller wrote it.
        tools: The tools that the plan may name, by name.
        max_steps: A plan with more steps is refused.
        params: The parameters that the plan has, None if it may bring its own.
    """
    plan, notes = unwrap(raw, tools)
    if not isinstance(plan, dict):
        return ParsedPlan(None, (no_object(plan, 'a plan must be an object with "steps"'),))
    issues = [
        Issue(None, str(key), unknown_key(key, "a plan has steps, answer, params"))
        for key in plan
        if key not in ("steps", "answer", "params")
    ]
    answer = plan.get("answer")
    params, params_issues = read_params(plan.get("params"), params)
    issues += params_issues
    drafts, step_issues = read_steps(plan.get("steps"), tools, max_steps, params)
    issues += step_issues
    if not issues and not drafts and answer is None:
        issues.append(Issue(None, "steps", "the plan is empty: give steps, or an answer"))
    issues += graph_issues(drafts, answer, params=params)
    return finish(drafts, answer, issues, notes, params)


def read_params(raw: Any, known: Params | None) -> tuple[Params, list[Issue]]:
    """Return the parameters of a plan: those that it brings, or those `known` before, which it may only repeat."""
    # A revision is of the same goal with the same values; others would need an approval of their own.
    if known is not None:
        same = raw is None or raw == params_json(known)
        why = "parameters stay as they are; leave them out, and refer to them"
        return known, [] if same else [Issue(None, "params", why)]
    issues = [Issue(None, field, fault) for field, fault in params_faults({} if raw is None else raw)]
    return {} if issues or raw is None else {name: Param(**param) for name, param in raw.items()}, issues


def no_object(raw: Any, message: str) -> Issue:
    """Return the issue of a plan that is not an object: the place where its JSON is broken, or else the message."""
    return Issue(None, "plan", broken_json(raw) or message)


def read_steps(
    raw: Any, tools: Mapping[str, ToolSpec], max_steps: int, params: Params = NO_PARAMS
) -> tuple[list[StepDraft], list[Issue]]:
    """Read a list of steps, each on its own."""
    if raw is None:
        return [], []
    if not isinstance(raw, list):
        return [], [Issue(None, "steps", "steps must be a list of objects")]
    if len(raw) > max_steps:
        return [], [Issue(None, "steps", f"{len(raw)} steps are too many; at most {max_steps} are allowed")]
    try:
        with work_limit(MAX_WORK):
            return _read_each(raw, tools, params)
    except WorkLimitExceeded as error:
        return [], [Issue(None, "steps", f"checking the steps {error}")]


def _read_each(raw: list[Any], tools: Mapping[str, ToolSpec], params: Params) -> tuple[list[StepDraft], list[Issue]]:
    drafts, issues = [], []
    for place, item in enumerate(raw):
        if isinstance(item, dict):
            draft = read_step(item, tools, f"steps[{place}]", params)
            drafts.append(draft)
            issues += draft.issues
        else:
            issues.append(Issue(None, f"steps[{place}]", "a step is an object"))
    return drafts, issues


def read_step(
    raw: Mapping[Any, Any], tools: Mapping[str, ToolSpec], place: str, params: Params = NO_PARAMS
) -> StepDraft:
    """Read one step: its spelling, its own fields and its arguments against the tool's schema.

    A step without an id is called by its `place`, and checked all the same.
    """
    name = name_of(raw) or place
    faults = json_faults(raw)
    too_deep = any(message == TOO_DEEP for _, message in faults)
    found = read_fields({} if too_deep else raw, tools, name)
    fields, issues = found.values, found.issues
    issues += [Issue(name, path.lstrip(".") or "step", message) for path, message in faults]
    if isinstance(raw.get("arguments"), str) and (inner := json_faults(fields.get("args"))):  # it was JSON text
        issues += [Issue(name, f"args{path}", message) for path, message in inner]
        del fields["args"]
    draft = StepDraft(fields, issues, notes=found.notes, params=params, place=place)
    if too_deep:
        return draft
    try:
        # A parameter with a fault cannot be filled in, so the step is checked without any.
        wrong = [Issue(name, field, fault) for field, fault in draft.parameter_faults()]
        issues += wrong
        draft.step = Step.model_validate(fields).bound({} if wrong else params)
    except ValidationError as error:
        issues += [Issue(name, field, message) for field, message in field_errors(error).items()]
    issues += step_issues(draft, tools)
    return draft


def finish(
    drafts: list[StepDraft], answer: Any, issues: list[Issue], notes: Iterable[str] = (), params: Params = NO_PARAMS
) -> ParsedPlan:
    """Return the plan, or all its issues.

    Args:
        drafts: The steps.
        answer: The plan's answer.
        issues: All issues, those of the steps included.
        notes: Normalizations outside the steps.
        params: The plan's parameters.
    """
    if issues:
        return ParsedPlan(None, tuple(dict.fromkeys(issues)))
    plan = Plan(
        steps=tuple(draft.step for draft in drafts if draft.step is not None), answer=answer, params=dict(params)
    )
    of_plan, of_steps = [(None, note) for note in notes], [(d.id, note) for d in drafts for note in d.notes]
    return ParsedPlan(plan, notes=group_notes(chain(of_plan, of_steps)))
