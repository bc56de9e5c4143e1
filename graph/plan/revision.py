"""A revision: a plan of the remaining work, merged with the steps that succeeded."""

from collections.abc import Collection, Mapping
from typing import Any

from planner_executor.graph.plan.canonical import canonical_json
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.draft import StepDraft
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.normalization import read_id, unknown_key, unwrap
from planner_executor.graph.plan.plan_diff import PlanDiff
from planner_executor.graph.plan.reading import ParsedPlan, finish, no_object, read_params, read_steps
from planner_executor.graph.plan.references import references_in
from planner_executor.graph.plan.schema import MAX_STEPS, Plan
from planner_executor.graph.plan.shortening import short_repr
from planner_executor.graph.plan.validation import graph_issues


def difference(before: Plan | None, after: Plan) -> PlanDiff:
    """Return the steps that `after` adds to, changes in and removes from `before`."""
    before = before or Plan()
    return PlanDiff(
        added=tuple(step.id for step in after.steps if step.id not in before.by_id),
        changed=tuple(s.id for s in after.steps if s.id in before.by_id and not s.same_as(before.by_id[s.id])),
        removed=tuple(step.id for step in before.steps if step.id not in after.by_id),
        answer=canonical_json(before.answer) != canonical_json(after.answer),
    )


def read_revision(
    raw: Any, current: Plan, succeeded: Collection[str], tools: Mapping[str, ToolSpec], max_steps: int = MAX_STEPS
) -> ParsedPlan:
    """Read `{"keep": [...], "steps": [...], "answer": ...}` and return the whole revised plan, or every fault.

    Steps that succeeded stay and never change. A given step may have the id of one that failed or has not run; a step
    that is neither kept nor given is dropped. Without an answer the old one stays if all its steps do.
    """
    revision, notes = unwrap(raw, tools)
    if not isinstance(revision, dict):
        message = 'a revision must be an object with "steps", and "keep" for the steps that stay'
        return ParsedPlan(None, (no_object(revision, message),))
    issues = [
        Issue(None, str(key), unknown_key(key, "a revision has keep, steps, answer"))
        for key in revision
        if key not in ("keep", "steps", "answer", "params")
    ]
    params, params_issues = read_params(revision.get("params"), current.params)
    issues += params_issues
    given, step_issues = read_steps(revision.get("steps"), tools, max_steps, params)
    issues += step_issues
    keep, keep_issues = _kept(revision.get("keep"), current)
    issues += keep_issues
    given, given_issues = _changed_steps(given, current, succeeded, set(keep))
    issues += given_issues
    if not issues and not given and not keep and revision.get("answer") is None:
        issues.append(Issue(None, "steps", "the revision is empty: keep or give steps, or give an answer"))
    merged = _merge(current, succeeded, keep, given)
    if len(merged) > max_steps:
        issues.append(Issue(None, "steps", f"{len(merged)} steps are too many; at most {max_steps} are allowed"))
    answer = revision.get("answer")
    if answer is None:
        answer = _answer_kept(current, merged)
    return finish(merged, answer, issues + graph_issues(merged, answer, params=params), notes, params)


def _kept(raw: Any, current: Plan) -> tuple[list[str], list[Issue]]:
    if raw is None:
        return [], []
    if not isinstance(raw, list):
        return [], [Issue(None, "keep", "keep must be a list of step ids")]
    names = [read_id(name) for name in raw]
    known = [name for name in names if isinstance(name, str) and name in current.by_id]
    return known, [
        Issue(None, "keep", f"no step {short_repr(name)} in the plan; name only steps of the current plan")
        for name in names
        if not (isinstance(name, str) and name in current.by_id)
    ]


def _changed_steps(
    given: list[StepDraft], current: Plan, succeeded: Collection[str], keep: Collection[str]
) -> tuple[list[StepDraft], list[Issue]]:
    """Return the given steps that differ from succeeded ones; an unchanged copy of such a step is dropped."""
    changing, issues = [], []
    for draft in given:
        if draft.id in succeeded:
            if draft.issues or draft.step is None or not draft.step.same_as(current.by_id.get(str(draft.id))):
                message = f"{draft.id} succeeded and cannot change; give the new step another id"
                issues.append(Issue(draft.id, "id", message))
            continue
        if draft.id in keep:
            issues.append(Issue(draft.id, "keep", f"{draft.id} is both kept and given; do one of them"))
        changing.append(draft)
    return changing, issues


def _merge(current: Plan, succeeded: Collection[str], keep: list[str], given: list[StepDraft]) -> list[StepDraft]:
    """Return kept steps in their old order, replaced steps in their old places, new ones at the end."""
    stays = {*succeeded, *keep}
    replacing = {draft.id: draft for draft in given if draft.id in current.by_id and draft.id not in stays}
    merged = [
        replacing.get(step.id) or StepDraft(step.to_json(), step=step, is_settled=step.id in succeeded)
        for step in current.steps
        if step.id in stays or step.id in replacing
    ]
    return merged + [draft for draft in given if replacing.get(draft.id) is not draft]


def _answer_kept(current: Plan, merged: list[StepDraft]) -> Any:
    left = {draft.id for draft in merged}
    return current.answer if all(ref.step in left for ref in references_in(current.answer)) else None
