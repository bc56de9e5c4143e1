"""The events of a review: requests, and decisions with their author, subject and terms."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner_executor.graph.nodes.review.people import is_open
from planner_executor.graph.nodes.review.votes import Ballot
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.scope import rebind
from planner_executor.graph.record.events import (
    Content,
    Decided,
    Draft,
    Met,
    ReviewRequested,
    SettledCall,
    SettledWithPlan,
)
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.standing_approval import StandingApproval
from planner_executor.graph.record.values import Kept, keep, keep_anything
from planner_executor.graph.review.asked_effects import first_effects
from planner_executor.graph.review.call_form import form_of
from planner_executor.graph.review.request import ReviewRequest
from planner_executor.graph.review.verdict import NOTHING, ReviewVerdict


def requested(
    run: RunContext, request: ReviewRequest, skip: bool = False, answer: Any = None, unseen: bool = False
) -> tuple[Draft, list[Kept]]:
    """Return the event of a shown request, and the values to store with it.

    `answer` is the response that was refused; `skip` means that a response was given at this checkpoint.
    """
    first, left_out = first_effects(request)
    shown = keep([*request.descriptions])
    content = keep(request.content)
    is_answered = skip or answer is not None
    given, refused = keep_anything(answer), run.approver if is_answered and request.error else None
    event = ReviewRequested(
        request=run.record.review_state.requests + (not is_open(run, request)),
        digest=request.digest,
        subject=request.subject,
        revision=request.revision,
        asked=tuple(action.name for action in request.actions),
        actions=tuple(
            # A plan that can run stands in the event of its revision; one with faults stands nowhere else.
            action.to_json()
            for action in request.actions
            if action.name != "run_plan" or not request.binding
        ),
        shown=Content.of(shown),
        content=Content.of(content),
        answer=Content.of(given) if is_answered else None,
        unseen=unseen if is_answered else None,
        error=request.error,
        issues=request.issues,
        skip=int(skip),
        approver=str(refused) if refused is not None else None,
        roles=refused.roles if refused is not None else (),
        takes=request.estimate.get("takes") if any(action.name == "run_plan" for action in request.actions) else None,
        rules=tuple(rule.to_json() for rule in request.rules),
        deadline=request.deadline,
        askers=request.askers,
        effects=first,
        left_out=left_out,
        estimate={name: value for name, value in request.estimate.items() if name != "takes"},
    )
    return Draft(event), [shown, content, given]


def decided(
    run: RunContext,
    plan: Plan | None,
    decision: str,
    ballot: Ballot,
    *,
    message: str | None = None,
    with_plan: tuple[SettledWithPlan, ...] | None = None,
) -> Draft:
    """Return the event of a decision, with its authors, the rules that they met, subject and terms."""
    verdict, approver = ballot.verdict, run.approver
    return Draft(
        Decided(
            **_about(run, plan, verdict, approves=decision == "approve"),
            decision=decision,
            by="unseen" if verdict.unseen else "person",
            approver=str(approver),
            roles=approver.roles,
            voters=tuple(map(str, ballot.voters)) if len(ballot.voters) > 1 else (),
            message=message,
            met=ballot.met,
            with_plan=with_plan,
        )
    )


def passed(
    run: RunContext, plan: Plan, rule: str, *, by: StandingApproval | None = None, met: Met | None = None
) -> Draft:
    """Return the event of an approval without an answer, by the policy or by a standing approval."""
    about = {**_about(run, plan, NOTHING, approves=True), "decision": "approve", "message": rule}
    if by is None:
        return Draft(Decided(**about, by="policy", approver="policy"))
    voters = by.given_by if len(by.given_by) > 1 else ()
    return Draft(Decided(**about, by="standing", approver=by.given_by[0], voters=voters, met=met or {}, standing=by.id))


def _about(run: RunContext, plan: Plan | None, verdict: ReviewVerdict, approves: bool) -> dict[str, Any]:
    terms = run.terms if verdict.budget is None else replace(run.terms, budget=verdict.budget)
    binding = terms.binding(plan) if plan and approves else rebind(run.record, run.terms, terms)
    return {
        "request": run.record.review_state.requests,
        "digest": plan.digest if plan else None,
        "binding": binding,
        "settled": tuple(_settled(run.record, entry) for entry in verdict.settled),
        "decisions": tuple(decision.to_json() for decision in verdict.decisions),
        "given": dict(verdict.given),
        "steps": verdict.calls,
        "replaced": dict(verdict.edits),
        "rejected": dict(verdict.rejected),
        "replies": {key: _forms(run.record, key, answer) for key, answer in verdict.replies.items()},
        "budget": verdict.budget,
    }


def _forms(record: RunState, key: str, answer: Any) -> Mapping[str, Any]:
    call = record.calls.by_key[key]
    assert call.asked is not None
    return form_of(call.asked.questions).forms(answer)


def _settled(record: RunState, entry: Mapping[str, Any]) -> SettledCall:
    """Return the settlement of an uncertain call, with the call's run if that is another run."""
    call = record.calls.find(entry["key"])
    return SettledCall(
        entry["key"], entry["happened"], entry["result"], (call.run or None) if call is not None else None
    )
