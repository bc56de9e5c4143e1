"""Whose decision counts: refusals, votes, proposals, and the decision that a quorum makes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner_executor.graph.nodes.review.outcome import Outcome
from planner_executor.graph.nodes.review.people import askers_on, escalated_s, shown_stake
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.policy.approver_rule import ApproverRule, alone_fault, approver_refusal, missing
from planner_executor.graph.policy.approvers import NO_APPROVERS
from planner_executor.graph.record.events import Met, Voted
from planner_executor.graph.record.person import Approver
from planner_executor.graph.review.decision import RefusedDecision
from planner_executor.graph.review.request import ReviewRequest
from planner_executor.graph.review.verdict import NOTHING, ReviewVerdict

UNSEEN = (
    "the policy says who decides, and an approval given in advance is nobody's; a person has to decide this request"
)

BESIDE = ("reason", "ask_later")
"""What approvals that count together may say each in its own way: why, and what is left out."""


@dataclass(frozen=True)
class Ballot:
    """What an answer comes to under the rules: a `vote` if more are missing, or else a verdict to carry out.

    `voters` are all whose approvals it rests on, `met` the rules on people that they met, None without
    such rules. `is_proposal`: its edits are put to others.
    """

    verdict: ReviewVerdict
    voters: tuple[Approver, ...] = ()
    vote: Voted | None = None
    is_proposal: bool = False
    met: Met | None = None


def check_decider(run: RunContext, request: ReviewRequest, verdict: ReviewVerdict) -> None:
    """Refuse an answer of a person who may not decide about what is shown.

    Raises:
        RefusedDecision: Its author may not, or gave it in advance.
    """
    rules = _shown_rules(run, request, verdict)
    if rules and verdict.unseen:
        raise RefusedDecision(UNSEEN)
    if rules and (why := approver_refusal(rules, run.approver, askers_on(run, request, run.recorded_plan()))):
        raise RefusedDecision(why)


def ballot_of(run: RunContext, request: ReviewRequest, outcome: Outcome) -> Ballot:
    """Return what an answer comes to, whose author may decide about what is shown.

    An edit is judged by all that was shown and all that it brings into force; its author meets every rule alone, or it
    is a proposal. A value is judged by what is shown, and by the rules on the calls that it reaches if its giver counts
    for each of them; otherwise it stands, and the gate holds the calls of which the record shows no such decision.
    """
    verdict, approver, approvers = outcome.verdict, run.approver, run.terms.policy.approvers
    if approvers == NO_APPROVERS or verdict.stop is not None:
        return Ballot(verdict, (approver,))
    rules, late_s = _shown_rules(run, request, verdict), escalated_s(run, request)
    if outcome.brings.tools:
        rules = tuple(dict.fromkeys((*rules, *outcome.brings.rules(approvers, late_s))))
    askers = askers_on(run, request, outcome.plan, outcome.steps)
    if outcome.is_edit and alone_fault(rules, approver, askers):
        return Ballot(replace(verdict, calls=(), standing={}), (approver,), is_proposal=True, met={})
    if not outcome.is_edit:
        reached = outcome.reaches.of_calls(approvers, late_s)
        if all(approver_refusal([rule], approver, askers) is None for rule in reached):
            rules = tuple(dict.fromkeys((*rules, *reached)))
        elif verdict.budget is not None:  # a raised limit reaches the calls approved beside it: they are asked again
            verdict = replace(verdict, calls=(), standing={})
    ballot, voters = _counted(run, request, verdict, rules, askers)
    stake = shown_stake(run, request, verdict.budget) | outcome.brings | outcome.reaches
    return replace(ballot, met=stake.met(approvers, voters, askers, late_s))


def _shown_rules(run: RunContext, request: ReviewRequest, verdict: ReviewVerdict) -> tuple[ApproverRule, ...]:
    shown = shown_stake(run, request, verdict.budget)
    return shown.rules(run.terms.policy.approvers, escalated_s(run, request))


def _counted(
    run: RunContext,
    request: ReviewRequest,
    verdict: ReviewVerdict,
    rules: Sequence[ApproverRule],
    askers: Sequence[str],
) -> tuple[Ballot, Sequence[Approver]]:
    """Return what an answer comes to with the votes before it, and all whose votes are counted."""
    approver, people = run.approver, run.record.people
    made = tuple(decision.to_json() for decision in verdict.decisions)
    says = digest([{name: said for name, said in one.items() if name not in BESIDE} for one in made])
    # Votes count together if they say the same of the same subject; one person counts once (decision 73).
    voters = {**people.voters(request.subject, says), approver.person: approver}
    left = missing(rules, list(voters.values()), askers)
    if verdict.feedback is not None:  # one may send back; what is given beside it counts if one may give it
        alone = replace(NOTHING, feedback=verdict.feedback, decisions=verdict.decisions)
        is_met = missing(rules, [approver], askers) is None
        return Ballot(verdict if is_met else alone, (approver,)), [approver]
    if left is None:
        return Ballot(_together(run, request, verdict, says), tuple(voters.values())), list(voters.values())
    if verdict.rejected:  # one rejection decides about its call; what is approved beside it is asked again
        return Ballot(replace(NOTHING, rejected=verdict.rejected, decisions=verdict.decisions), (approver,)), []
    vote = Voted(
        request=run.record.review_state.requests,
        subject=request.subject,
        says=says,
        decisions=made,
        missing=left,
        approver=str(approver),
        roles=approver.roles,
    )
    return Ballot(verdict, vote=vote), []


def _together(run: RunContext, request: ReviewRequest, verdict: ReviewVerdict, says: str) -> ReviewVerdict:
    """Return the verdict of votes that say the same; a call that one of them leaves out is left out."""
    if verdict.plan is None:
        return verdict
    votes = run.record.people.votes.get(request.subject, {}).items()
    others = [vote.decisions for who, vote in votes if vote.says == says and who != run.approver.person]
    later = [step for made in others for one in made for step in one.get("ask_later", ())]
    ask_later = tuple(dict.fromkeys((*verdict.plan.ask_later, *later)))
    return replace(verdict, plan=replace(verdict.plan, ask_later=ask_later))
