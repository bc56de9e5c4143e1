"""Standing approvals that come with the approval of a call or of a playbook's plan, and those that cover a plan."""

import time
from collections.abc import Sequence

from planner_executor.graph.nodes.review.events import passed
from planner_executor.graph.nodes.review.people import is_open
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approvers import NO_APPROVERS
from planner_executor.graph.policy.playbook_approval import (
    bounds_of,
    covers_run,
    face_of,
    is_within,
    playbook_fault,
    rules_on,
    stake_of,
    subject_of,
)
from planner_executor.graph.policy.standing import (
    MOST_CALLS,
    covers,
    standing_args,
    standing_fault,
    time_of,
    wide_fault,
)
from planner_executor.graph.record.events import Draft, StandingGiven
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.standing_approval import OF_PLAYBOOKS, StandingApproval, StandingCall
from planner_executor.graph.review.decision import InvalidResponse
from planner_executor.graph.review.request import ReviewRequest
from planner_executor.graph.review.verdict import ReviewVerdict

ID_CHARACTERS = 12


def approvals_given(run: RunContext, verdict: ReviewVerdict, by: Sequence[Approver]) -> list[StandingApproval]:
    """Return the standing approvals given with the calls or the plan approved; `by` are all who gave them.

    Raises:
        InvalidResponse: A wish is not understood, does not cover what was shown, is about a call that happened before,
            or about a plan that is no playbook's.
    """
    found = _of_playbook(run, verdict, by)
    for key, wish in verdict.standing.items():
        held, now = run.record.review_state.held[key], time.time()
        tool, policy = run.services.toolbox.specs.get(held.event.tool), run.terms.policy
        if fault := standing_fault(wish, now, policy.standing_s):
            raise InvalidResponse(fault)
        if held.before or tool is None:
            raise InvalidResponse(
                f"the call of {held.event.tool} in {held.step} is decided by itself, without standing"
            )
        until = time_of(wish.get("until"))
        rules = policy.approvers.rules([tool], run.terms.bounds.cost_usd, calls=[tool])  # in other runs by either table
        if until is not None and (fault := wide_fault(rules, by, run.record.people.askers)):
            raise InvalidResponse(f"standing.until: {fault}; without until it holds in this run")
        approval = StandingApproval(
            id=digest([run.record.id, run.record.review_state.requests, key])[:ID_CHARACTERS],
            tool=held.event.tool,
            args=standing_args(wish, held.args),
            at_most=wish["at_most"],
            fingerprint=tool.fingerprint,
            policy=policy.digest,
            given_by=tuple(map(str, by)),
            given_at=now,
            run=run.record.id if until is None else None,
            until=until,
            roles={str(giver): giver.roles for giver in by},
            of_givers=until is not None and not rules,
        )
        if not covers(approval, tool, held.args, {}, policy):
            raise InvalidResponse(
                f"standing for {held.event.tool} does not cover the call that was shown; change its args"
            )
        found.append(approval)
    return found


def _of_playbook(run: RunContext, verdict: ReviewVerdict, by: Sequence[Approver]) -> list[StandingApproval]:
    """Return the standing approval given with the plan approved, which is a playbook's; none if there is no wish."""
    decision, plan, terms = verdict.plan, run.recorded_plan(), run.terms
    if decision is None or decision.standing is None or plan is None:
        return []
    wish, now = decision.standing, time.time()
    if verdict.unseen or decision.ask_later:
        raise InvalidResponse(
            "standing is for people who have seen the plan, and covers its calls: no ask_later with it"
        )
    if fault := playbook_fault(run.record, plan) or standing_fault(wish, now, terms.policy.standing_s, bounds="params"):
        raise InvalidResponse(f"standing cannot cover runs of this plan: {fault}")
    rules = rules_on(plan, terms)
    if fault := wide_fault(rules, by, run.record.people.askers):
        raise InvalidResponse(f"standing: {fault}")
    approval = StandingApproval(
        id=digest([run.record.id, run.record.review_state.requests, "playbook"])[:ID_CHARACTERS],
        tool="",
        args=bounds_of(wish, plan),
        at_most=wish.get("at_most", MOST_CALLS),
        fingerprint=face_of(plan, terms),
        policy=terms.policy.digest,
        given_by=tuple(map(str, by)),
        given_at=now,
        until=time_of(wish.get("until")) or now + terms.policy.standing_s,
        roles={str(giver): giver.roles for giver in by},
        of_givers=not rules,
        playbook=subject_of(run.record, plan),
    )
    # Whoever gives it has seen these values: an approval that leaves them out was meant otherwise.
    if not is_within(approval, run.record, plan, terms):
        raise InvalidResponse("standing does not cover the values that were shown; change its params")
    return [approval]


async def approved_ahead(run: RunContext, request: ReviewRequest, plan: Plan | None) -> StandingApproval | None:
    """Return the standing approval of a playbook that lets a plan pass, None if people decide about it.

    What was shown once is theirs: an answer to it must never be overtaken.
    """
    asks = any(one.name == "run_plan" for one in request.actions)
    if plan is None or not asks or playbook_fault(run.record, plan) is not None or is_open(run, request):
        return None
    now = time.time()
    uses = await run.ledger.standing(OF_PLAYBOOKS)
    return next((one.approval for one in uses if covers_run(one, run.record, plan, run.terms, now)), None)


def passed_ahead(run: RunContext, approval: StandingApproval, plan: Plan) -> tuple[list[Draft], StandingCall]:
    """Return the events of a plan that a standing approval lets pass, and the use that is counted with them."""
    stake, approvers = stake_of(plan, run.terms), run.terms.policy.approvers
    met = stake.met(approvers, approval.givers, run.record.people.askers, 0.0) if approvers != NO_APPROVERS else None
    decision = passed(run, plan, approval.about, by=approval, met=met)
    return [Draft(StandingGiven(approval=approval)), decision], StandingCall(approval.id, run.record.id, run.record.id)
