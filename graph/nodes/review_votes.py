"""Whose decision counts: refusals, votes, proposals, and the decision that a quorum makes."""

from dataclasses import dataclass, replace

from graph.nodes.review_people import escalated_s, shown_stake
from graph.plan.canonical import digest
from graph.policy.approvers import ApproverRule, approver_refusal, is_proposed, missing
from graph.record.events import Voted
from graph.record.person import Approver
from graph.review.decision import RefusedDecision
from graph.review.request import ReviewRequest
from graph.review.verdict import NOTHING, ReviewVerdict
from graph.run_context import RunContext

UNSEEN = (
    "the policy says who decides, and an approval given in advance is nobody's; a person has to decide this request"
)


@dataclass(frozen=True)
class Ballot:
    """What an answer comes to under the rules: a `vote` if more are missing, or else a verdict to carry out.

    `voters` are all whose approvals it rests on. `is_proposal`: its edits are put to others.
    """

    verdict: ReviewVerdict
    voters: tuple[Approver, ...] = ()
    vote: Voted | None = None
    is_proposal: bool = False


def ballot_of(run: RunContext, request: ReviewRequest, verdict: ReviewVerdict) -> Ballot:
    """Return what an answer comes to.

    Raises:
        RefusedDecision: Its author may not decide.
    """
    approvers, approver = run.terms.policy.approvers, run.approver
    rules = shown_stake(run, request, verdict.budget).rules(approvers, escalated_s(run, request))
    if not rules:
        return Ballot(verdict, (approver,))
    if verdict.unseen:
        raise RefusedDecision(UNSEEN)
    askers = run.record.people.askers
    if why := approver_refusal(rules, approver, askers):
        raise RefusedDecision(why)
    if verdict.stop is not None or verdict.feedback is not None:
        return Ballot(verdict, (approver,))
    if is_proposed(rules) and (verdict.edits or (verdict.plan is not None and verdict.plan.type == "edit")):
        return Ballot(replace(verdict, calls=(), standing={}), (approver,), is_proposal=True)
    return _counted(run, request, verdict, rules)


def _counted(
    run: RunContext, request: ReviewRequest, verdict: ReviewVerdict, rules: tuple[ApproverRule, ...]
) -> Ballot:
    approver, people = run.approver, run.record.people
    made = tuple(decision.to_json() for decision in verdict.decisions)
    says = digest(list(made))
    # Votes count together if they say the same of the same subject; one person counts once (decision 73).
    voters = {**people.voters(request.subject, says), approver.person: approver}
    left = missing(rules, list(voters.values()), people.askers)
    if left is None:
        return Ballot(verdict, tuple(voters.values()))
    if verdict.rejected:  # one rejection decides about its call; what is approved beside it is asked again
        return Ballot(replace(NOTHING, rejected=verdict.rejected, decisions=verdict.decisions), (approver,))
    vote = Voted(
        request=run.record.review_state.requests,
        subject=request.subject,
        says=says,
        decisions=made,
        missing=left,
        approver=str(approver),
        roles=approver.roles,
    )
    return Ballot(verdict, vote=vote)
