"""Edits of held calls: within the step's grant a new call in place of the old one, outside of it a revision."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.grants import Grant, Refused, json_equal
from planner_executor.graph.record.call import HeldCall, call_key
from planner_executor.graph.record.values import to_text
from planner_executor.graph.review.decision import Decision, InvalidResponse
from planner_executor.graph.review.verdict import ReviewVerdict

PLAN_OPEN = "the plan itself is under review: edit the plan, not its calls"
MARKS = ("{", "$", "#", "<")
"""What a look-alike of a reference begins with."""


@dataclass(frozen=True)
class EditedCalls:
    """The verdict with the edits that stay within their grants, and the plan, as JSON, that the others make.

    `is_shown` means that the whole change of the plan is the arguments of single calls that the person wrote.
    """

    verdict: ReviewVerdict
    plan: Mapping[str, Any] | None = None
    is_shown: bool = True


def edited_calls(run: RunContext, plan: Plan | None, verdict: ReviewVerdict) -> EditedCalls:
    """Return what the edits of held calls come to.

    Raises:
        InvalidResponse: A call cannot be made with these arguments, by its schema or by the policy.
    """
    verdict = _with_added(run, plan, verdict)
    within: dict[str, Mapping[str, JsonValue]] = {}
    approved = list(verdict.calls)
    changed: dict[str, Mapping[str, Any]] = {}
    is_shown = True
    for key, args in verdict.edits.items():
        held = run.record.review_state.held[key]
        _check(run, held, args)
        if plan is None or held.step not in plan.by_id:
            raise InvalidResponse(f"the plan has no step {held.step}; look at the request again")
        step = plan.by_id[held.step]
        if _is_granted(run, step, held, args):
            # Equal arguments approve the call as shown; others make a new call in its place (decision 72).
            within |= {} if digest(dict(args)) == digest(dict(held.args)) else {key: args}
            approved.append(key)
            continue
        if verdict.plan is not None:
            raise InvalidResponse(PLAN_OPEN)
        is_call = step.tool is not None and step.for_each is None
        is_shown = is_shown and is_call
        changed[step.id] = _changed(step, held.args, args)
        # The step that is revised makes just this call, and the person has seen it: it is not held again.
        approved += [call_key(run.record.id, step.id, None, 0, held.event.tool, digest(dict(args)))] if is_call else []
    found = replace(verdict, calls=tuple(approved), edits=within)
    return EditedCalls(found, _plan(plan, changed) if plan is not None and changed else None, is_shown)


def _check(run: RunContext, held: HeldCall, args: Mapping[str, JsonValue]) -> None:
    spec = run.services.toolbox.specs.get(held.event.tool)
    if spec is None:
        raise InvalidResponse(f"the tool {held.event.tool} is there no longer; reject the call")
    # The gate would refuse the call later, when nobody is there to mend it.
    if faults := spec.argument_faults(args) or run.terms.policy.faults(spec, args):
        words = "; ".join(f"{place}: {why}" for place, why in faults)
        raise InvalidResponse(f"{held.step} cannot call {held.event.tool} with the edited arguments: {words}")


def _is_granted(run: RunContext, step: Step, held: HeldCall, args: Mapping[str, JsonValue]) -> bool:
    grant, spec = Grant.of(step), run.services.toolbox.specs[held.event.tool]
    try:
        return held.event.tool in grant.tools and grant.bound(args, spec.takes) == dict(args)
    except Refused:
        return False


def _with_added(run: RunContext, plan: Plan | None, verdict: ReviewVerdict) -> ReviewVerdict:
    """Return the verdict with the edits of calls that the plan adds as an edit of the plan: a person writes them then.

    Raises:
        InvalidResponse: The plan is edited too, or another new call is of the same step.
    """
    added = {one.key: one for one in run.record.plan_state.effects_of() if one.key in verdict.edits}
    if plan is None or not added:
        return verdict
    steps = [one.step.id for one in added.values()]
    if any(len(run.record.plan_state.new_effects[step]) > 1 for step in steps):
        raise InvalidResponse(f"{steps[0]} adds several tools: edit the plan, not its calls")
    given = {key: verdict.edits[key] for key in added}
    changed = {one.step.id: _changed(one.step, one.step.args, given[one.key]) for one in added.values()}
    if verdict.plan is None or verdict.plan.type == "edit":
        raise InvalidResponse(PLAN_OPEN)
    edits = {key: args for key, args in verdict.edits.items() if key not in added}
    # Arguments as they are in the plan are no edit of it, but an approval of the call as it was shown.
    same = tuple(key for key, one in added.items() if json_equal(dict(given[key]), dict(one.step.args)))
    if len(same) == len(added):
        return replace(verdict, calls=(*verdict.calls, *same), edits=edits)
    edit = Decision("edit", args={"plan": _plan(plan, changed)})
    return replace(verdict, plan=edit, calls=(*verdict.calls, *same), edits=edits)


def _changed(step: Step, before: Mapping[str, JsonValue], args: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Return the step, as JSON, with the arguments that a person changed as literals; references elsewhere stay."""
    own = {name: value for name, value in args.items() if not _same(before, args, name)}
    kept = {name: value for name, value in step.args.items() if name in args and name not in own}
    # What a person writes is a value: nothing in it is a reference, whatever it looks like.
    literal = {*step.literal, *(name for name, value in own.items() if any(mark in to_text(value) for mark in MARKS))}
    raw = {**step.to_json(), "args": {**kept, **own}, "literal": sorted(literal & {*kept, *own})}
    return {name: value for name, value in raw.items() if name != "literal" or value}


def _same(before: Mapping[str, JsonValue], after: Mapping[str, JsonValue], name: str) -> bool:
    return name in before and json_equal(before[name], after[name])


def _plan(plan: Plan, changed: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    steps = [changed.get(step.id, step.to_json()) for step in plan.steps]
    return {**plan.to_json(), "steps": steps}
