"""The scope gate: whether a plan stays within an approval, and which calls it might repeat.

A plan that drops or reorders steps is within it, and so is one that repeats an approved read, even under another id.
Any other change (a tool, a literal, a repetition, another source of an argument, a check moved from before an effect)
is beyond it.
"""

from collections import defaultdict
from collections.abc import Mapping

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import canonical_json
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.references import renamed
from planner_executor.graph.plan.schema import ITEM, Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.remaining import steps_left
from planner_executor.graph.record.run_state import RunState


def in_force(record: RunState, plan: Plan, terms: ExecutionTerms) -> bool:
    """Whether the last approval covers exactly this plan under these terms."""
    approval = record.review_state.approval
    return approval is not None and approval.digest == plan.digest and approval.binding == terms.binding(plan)


def within_approved(record: RunState, plan: Plan, terms: ExecutionTerms) -> bool:
    """Whether the plan does nothing beyond the plan approved under the same terms."""
    if record.review_state.approval is None or record.plan_state.approved_plan is None:
        return False
    approved = Plan.model_validate(record.plan_state.approved_plan)
    # An approval holds under the terms that it was given under, whatever the plan.
    if terms.binding(approved) != record.review_state.approval.binding:
        return False
    return not uncovered_steps(approved, plan, terms.tools)


def needs_person(record: RunState, plan: Plan, terms: ExecutionTerms) -> bool:
    """Whether a person has to approve the plan: it exceeds the approval, and the mode or a rule requires one.

    A plan without progress always needs a person, and so do one that stays although a change was asked for, one that a
    person proposed to others, one with a call that a person refused before, and, under rules on who decides about it,
    one that a person edited beside a review. What follows from a person's words is a proposal too, although it only
    drops steps (decision 107). In mode `side_effects`, a revision that changes no effect and nothing before one needs
    nobody.
    """
    # The order matters: what a person has to see in any case comes before what an approval covers.
    state = record.plan_state
    if state.stalled is not None or state.unchanged is not None or state.is_proposed:
        return True
    if in_force(record, plan, terms):
        return False
    approval = record.review_state.approval
    if approval is not None and approval.standing is not None:
        return terms.needs_person(plan)  # what was approved ahead is this one plan (decision 162)
    if state.has_refused or (state.is_edited and terms.rules_on(plan)):
        return True
    if state.is_wished and terms.are_changes_proposed(plan):
        return terms.needs_person(plan)
    if within_approved(record, plan, terms):
        return False
    if terms.mode != "side_effects" or approval is None or not terms.needs_person(plan):
        return terms.needs_person(plan)
    approved = Plan.model_validate(record.plan_state.approved_plan)
    return terms.binding(approved) != approval.binding or _changes_watched(approved, plan, terms)


def rebind(record: RunState, before: ExecutionTerms, after: ExecutionTerms) -> str | None:
    """Return the binding of the approval after a person changed the terms; an invalid approval stays invalid."""
    if record.review_state.approval is None or record.plan_state.approved_plan is None:
        return None
    approved = Plan.model_validate(record.plan_state.approved_plan)
    held = before.binding(approved) == record.review_state.approval.binding
    return after.binding(approved) if held else record.review_state.approval.binding


def uncovered_steps(approved: Plan, plan: Plan, tools: Mapping[str, ToolSpec]) -> list[str]:
    """Return ids of the steps that the approval of another plan does not cover.

    A covered step has the dependencies and the sources of arguments that were approved, so that neither a check can
    move from before an effect nor another result appear under an approved id. A read may stand in for the same read
    that was dropped. A step that depends on an uncovered one is not covered either.
    """
    free: dict[bytes, dict[str, None]] = defaultdict(dict)  # approved steps by work, each of which covers one step only
    for step in approved.steps:
        free[_work(step, {})][step.id] = None
    refined = {step.id: step for step in approved.steps if step.kind == "refine"}
    stands_for: dict[str, str] = {}
    for name in plan.order:
        step = plan.by_id[name]
        if not all(before in stands_for for before in plan.waits[name]):
            continue
        same = free[_work(step, stands_for)]
        # Only a read may have a new id: a call with an effect under a new id would get a new idempotency key.
        renames = step.tool is not None and not tools[step.tool].acts
        gone = (other for other in same if renames and other not in plan.by_id)
        if (found := name if name in same else next(gone, None)) is not None:
            stands_for[name] = found
            del same[found]
        elif _is_expansion(step, plan, refined, tools):
            stands_for[name] = name
    return [step.id for step in plan.steps if step.id not in stands_for]


def repeats(record: RunState, plan: Plan) -> list[str]:
    """Return sentences on uncertain calls that the plan may repeat."""
    left = steps_left(plan, record.steps.results)
    sentences = []
    for call in record.calls.by_key.values():
        if call.is_uncertain and (again := [step.id for step in left if call.tool in step.tool_names]):
            sentences.append(
                f"{call.step} called {call.tool}, {_outcome(call)}; {', '.join(again)} may call it again, with "
                "the same arguments only after you have said whether it happened."
            )
    return sentences


def _outcome(call: Call) -> str:
    if call.unmet is not None:
        return f"which took effect although the step failed ({call.unmet})"
    return f"which may have taken effect although it failed ({call.failure})"


def _is_expansion(step: Step, plan: Plan, refined: Mapping[str, Step], tools: Mapping[str, ToolSpec]) -> bool:
    """Whether a step expands an approved `refine` step: it only reads, and only with the tools granted there.

    The step of that id gathers the results, and has to keep its criteria (docs/decisions/0019-refined-steps.md).
    """
    if step.id in refined:
        return step.kind == "gather" and _criteria(step) == _criteria(refined[step.id])
    granted = next((refined[above.id].tools for above in plan.above(step) if above.id in refined), None)
    return granted is not None and all(name in granted and not tools[name].acts for name in step.tool_names)


def _criteria(step: Step) -> bytes:
    return canonical_json([step.success_criteria, list(step.checks)])


def _work(step: Step, stands_for: Mapping[str, str]) -> bytes:
    """Return the work of a step and its dependencies, without its id; a model's work includes the objective."""
    # By what steps stand for, so that a revision that only renames them is no change.
    before: list[JsonValue] = [*sorted(stands_for.get(name, name) for name in step.depends_on)]
    names = {name: other for name, other in stands_for.items() if step.for_each is None or name != ITEM}
    held = {"args": step.renamed_args(names), "gather": renamed(step.gather, names)}
    held |= {"when": step.renamed_when(stands_for)} if step.when is not None else {}
    held |= {"params": {name: param.value for name, param in step.params.items()}} if step.params else {}
    # Code does not read the objective; a model does, so it is part of its work.
    ignored = ("id", "replaces", "objective") if step.tool is not None else ("id", "replaces")
    fields = {name: value for name, value in step.to_json().items() if name not in ignored}
    return canonical_json({**fields, **held, "for_each": renamed(step.for_each, stands_for), "depends_on": before})


def _changes_watched(approved: Plan, plan: Plan, terms: ExecutionTerms) -> bool:
    """Whether a revision adds a tool, or changes a call that needs approval or a step before such a call."""
    known = {name for step in approved.steps for name in step.tool_names}
    if any(name not in known for step in plan.steps for name in step.tool_names):
        return True
    touched = [plan.by_id[name] for name in uncovered_steps(approved, plan, terms.tools)]
    # What depends on a changed step is touched as well: what it is called with comes from there.
    watches = terms.policy.watches
    return any(watches(terms.tools[name]) for step in touched for name in step.tool_names)
