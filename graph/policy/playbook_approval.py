"""Runs of a playbook that a standing approval lets pass the review: the same plan, with values within bounds.

Decision 162 says what ends one, and why a run that a model brought about is never covered.
"""

from collections.abc import Mapping
from typing import Any

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.policy.at_stake import AtStake
from planner_executor.graph.policy.standing import admits_all, consent_fault, is_whole, lasts_too_long
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.standing_approval import StandingApproval, StandingUse

TRUSTED = ("user", "trusted")
"""Labels of values that it covers; others are decided by people."""


def playbook_fault(record: RunState, plan: Plan) -> str | None:
    """Return why no standing approval is of, or covers, the plan of a run; None if one may.

    A playbook's plan came with the run and stands as it came: no model and no person has written another one.
    """
    revised, ran = record.plan_state.revised, record.assignment
    if not ran.started.playbook:
        return "this run was not started by the name of a playbook"
    if ran.forked_from is not None:
        return "this run is a fork"
    if ran.own_goal:
        return "this run has a goal of its own in place of the playbook's description"
    if revised is None or (revised.revision, revised.author, revised.digest) != (1, "caller", plan.digest):
        return "the plan is not that of the playbook any more"
    if record.plan_state.unchanged is not None or record.plan_state.stalled is not None:
        return "another plan was asked for"
    return None


def subject_of(record: RunState, plan: Plan) -> dict[str, Any]:
    """Return what a standing approval says of the playbook: name, version, digest, and the plan without values."""
    shape = {**plan.to_json(), "params": {name: one.label for name, one in plan.params.items()}}
    asked: dict[str, Any] = {"plan": shape, "constraints": list(record.assignment.constraints)}
    named = {name: value for name, value in record.assignment.started.playbook.items() if name != "changed_since"}
    return {**named, "plan": digest(asked)}


def face_of(plan: Plan, terms: ExecutionTerms) -> str:
    """Return the digest of the faces of all tools that a plan may call."""
    names = {name for step in plan.steps for name in step.tool_names}
    return digest({name: terms.tools[name].fingerprint for name in sorted(names) if name in terms.tools})


def stake_of(plan: Plan, terms: ExecutionTerms) -> AtStake:
    """Return what such an approval is about: the plan, and each call that it can make by itself."""
    whole = AtStake.of_steps(plan, plan.by_id.keys(), terms.tools, terms.bounds.cost_usd)
    return AtStake(whole.tools, whole.tools, whole.cost_usd)


def rules_on(plan: Plan, terms: ExecutionTerms) -> tuple[ApproverRule, ...]:
    """Return the rules that those who give it have to meet together."""
    return stake_of(plan, terms).rules(terms.policy.approvers)


def covers_run(use: StandingUse, record: RunState, plan: Plan, terms: ExecutionTerms, now: float) -> bool:
    """Whether a standing approval of a playbook lets a run pass the review, at a time in Unix seconds."""
    approval = use.approval
    if approval.playbook is None or playbook_fault(record, plan) is not None:
        return False
    if use.is_replayed:
        return dict(approval.playbook) == subject_of(record, plan)
    # A run that was counted is not counted again, as after a retry.
    is_open = use.holds(now) or (record.id in use.calls and use.revoked_by is None)
    rules, askers = rules_on(plan, terms), record.people.askers
    return is_open and is_within(approval, record, plan, terms) and consent_fault(approval, rules, askers) is None


def is_within(approval: StandingApproval, record: RunState, plan: Plan, terms: ExecutionTerms) -> bool:
    """Whether plan, values, tools and policy of a run are those of an approval."""
    if dict(approval.playbook or {}) != subject_of(record, plan) or lasts_too_long(approval, terms.policy.standing_s):
        return False
    if (approval.fingerprint, approval.policy) != (face_of(plan, terms), terms.policy.digest):
        return False
    if any(param.label not in TRUSTED for param in plan.params.values()) or not is_whole(approval):
        return False
    return admits_all(approval, plan.param_values)


def bounds_of(wish: Mapping[str, Any], plan: Plan) -> dict[str, dict[str, Any]]:
    """Return the constraint of each parameter: the one wished for, or the value that was shown."""
    exact = {name: {"one_of": [value]} for name, value in plan.param_values.items()}
    return {**exact, **{name: dict(constraint) for name, constraint in wish.get("params", {}).items()}}
