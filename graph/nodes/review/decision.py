"""Carrying out the decisions of a review: the run goes on, returns to the planner, or ends."""

from dataclasses import replace

from planner_executor.graph.nodes.review.events import decided
from planner_executor.graph.nodes.review.outcome import Outcome
from planner_executor.graph.nodes.review.people import cost_under, tools_named
from planner_executor.graph.nodes.review.planned_calls import settled_with_plan
from planner_executor.graph.nodes.review.standing import approvals_given
from planner_executor.graph.nodes.review.subject import Subject
from planner_executor.graph.nodes.review.votes import Ballot
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.estimate import expected_of
from planner_executor.graph.nodes.run.state_view import state_at_end, state_to_execute, state_update
from planner_executor.graph.nodes.run.writer import RunWriter
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.at_stake import AtStake
from planner_executor.graph.record.ending import Ending
from planner_executor.graph.record.events import Decided, Draft, Met, PlanRevised, StandingGiven
from planner_executor.graph.record.review_state import Approval
from planner_executor.graph.review.decision import Decision, InvalidResponse
from planner_executor.graph.review.verdict import ReviewVerdict
from planner_executor.graph.state import StateUpdate

UNCHANGED = "the edit changes nothing; approve what is shown, or change it"


async def decide(writer: RunWriter, subject: Subject, outcome: Outcome, ballot: Ballot) -> StateUpdate:
    """Record all decisions in one write, and return the state update.

    Raises:
        InvalidResponse: A decision cannot be carried out; nothing is recorded.
    """
    verdict = ballot.verdict
    # An end comes before all else: nothing that was approved beside it is recorded, or it would start.
    if verdict.stop is not None:
        return await _stop(writer, subject, verdict, verdict.stop)
    if verdict.feedback is not None:
        return await _send_back(writer, subject, ballot, verdict.feedback)
    # A proposal approves nothing, so it is recorded before what an approval would give.
    if ballot.is_proposal:
        return await _propose(writer, outcome, ballot)
    if outcome.by_calls:
        return await _revise_by_calls(writer, outcome, ballot)
    run, plan = writer.run, outcome.plan
    if verdict.plan is not None and plan is None:
        raise InvalidResponse("this plan cannot be approved; edit it or reject it")
    standing = approvals_given(run, verdict, ballot.voters)
    if verdict.plan is None:
        decision = decided(run, plan, "settle", ballot)
    else:
        settled = settled_with_plan(run, subject.plan, outcome, ballot)
        decision = decided(run, plan, "approve", ballot, message=verdict.plan.type, with_plan=settled)
    # Those of this run stand in its events; those beyond it go into their own table, in the same transaction.
    given = [Draft(StandingGiven(approval=approval)) for approval in standing if approval.run is not None]
    edited = [outcome.edited] if outcome.edited else []
    # One write, after all that may refuse the answer: a refusal leaves nothing on record.
    await writer.write(*edited, decision, *given, given=[one for one in standing if one.run is None])
    return await _go_on(run, plan)


async def _propose(writer: RunWriter, outcome: Outcome, ballot: Ballot) -> StateUpdate:
    """Put an edited plan or call to others, who have to approve it; its author counts as one who asked."""
    run, verdict, plan, edited = writer.run, ballot.verdict, outcome.plan, outcome.edited
    if edited is not None and plan is not None and isinstance(edited.data, PlanRevised):
        edited = Draft(replace(edited.data, like_steps=await expected_of(run, plan)))
    changes = ReviewVerdict(edits=verdict.edits, rejected=verdict.rejected, decisions=verdict.decisions)
    # An edit that changes nothing would make its author one who asked, who could not approve any more (decision 73).
    if edited is None and not (changes.edits or changes.rejected):
        raise InvalidResponse(UNCHANGED)
    decision = decided(run, plan if edited else None, "propose", replace(ballot, verdict=changes), message="edit")
    await writer.write(*([edited] if edited else []), decision)
    return await _go_on(run, plan)


async def _revise_by_calls(writer: RunWriter, outcome: Outcome, ballot: Ballot) -> StateUpdate:
    """Put a plan in force with the arguments that a person gave its calls.

    It is thereby approved if a person approved the plan before and its whole change is what this one wrote; else it is
    reviewed like any. What was met for the calls that stay counts on.
    """
    run, before = writer.run, writer.run.record.review_state.approval
    is_approved = outcome.is_shown and before is not None and before.by == "person"
    if is_approved and before is not None and ballot.met is not None:
        ballot = replace(ballot, met={**_met_before(run, before), **ballot.met})
    decision = decided(run, outcome.plan, "approve" if is_approved else "settle", ballot, message="edit")
    await writer.write(*([outcome.edited] if outcome.edited else []), decision)
    return await _go_on(run, outcome.plan)


def _met_before(run: RunContext, approval: Approval) -> Met:
    """Return the rules that an approval met; by one of an earlier release those that are in force."""
    whole = AtStake(tools_named(run, approval.met), cost_usd=cost_under(run, None)).in_force(run.terms.policy.approvers)
    return {tool: whole.get(tool, ()) if met is None else met for tool, met in approval.met.items()}


async def carried_out(run: RunContext, decision: Decided) -> StateUpdate:
    """Return the state update of a decision already on record for this checkpoint."""
    if decision.decision == "feedback":
        return plan_again(run, decision.message)
    return await _go_on(run, None if run.record.plan_state.awaits_plan else run.recorded_plan())


def plan_again(run: RunContext, why: str | None) -> StateUpdate:
    """Return the state update of a run that returns to the planner."""
    return state_update(run, "plan", reason=f"planning again: {why}", doubts=[])


async def _go_on(run: RunContext, plan: Plan | None) -> StateUpdate:
    """Execute the plan; if there is none because its budget was reached, return to the planner."""
    if plan is None:
        return state_update(run, "plan", reason="planning on", doubts=[])
    return await state_to_execute(run, plan)


async def _stop(writer: RunWriter, subject: Subject, verdict: ReviewVerdict, stop: Decision) -> StateUpdate:
    # Of the verdict only the decisions are recorded: nothing else of a response that ends the run takes effect.
    run, word = writer.run, "finish" if stop.finishes else "reject"
    decisions = Ballot(ReviewVerdict(decisions=verdict.decisions))
    decision = decided(run, subject.plan, word, decisions, message=stop.message)
    plan = run.recorded_plan() or Plan()
    reached = await run.ending(plan)
    answer = reached.answer if run.record.steps.succeeded else None
    if stop.finishes:
        spent = (
            f"the budget's limit of {run.record.spending.shortage.limit} was reached"
            if run.record.spending.shortage
            else ""
        )
        missing = reached.reason if plan.steps else "there is no plan yet"
        ending = Ending("budget_exhausted", f"{spent}; {missing}", answer)
    else:
        ending = Ending("rejected", f"rejected: {stop.message}" if stop.message else "rejected", answer)
    await writer.end(ending, decision)
    return await state_at_end(run)


async def _send_back(writer: RunWriter, subject: Subject, ballot: Ballot, words: str) -> StateUpdate:
    """Return to the planner with feedback, at most `max_feedback` times."""
    run = writer.run
    # A model may never please, and each round costs a plan.
    most = run.services.settings.max_feedback
    if run.record.plan_state.feedback_rounds >= most:
        stop = Decision("reject", message=f"no agreement after {most} rounds")
        return await _stop(writer, subject, ballot.verdict, stop)
    await writer.write(decided(run, subject.plan, "feedback", ballot, message=words))
    return plan_again(run, words)
