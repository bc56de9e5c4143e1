"""Carrying out the decisions of a review: the run goes on, returns to the planner, or ends."""

from dataclasses import replace

from graph.nodes.review_edits import EditedCalls, edited_calls
from graph.nodes.review_events import decided
from graph.nodes.review_standing import approvals_given
from graph.nodes.review_subject import Subject, read_from_outside
from graph.nodes.review_votes import Ballot
from graph.plan.broken_json import broken_json
from graph.plan.schema import Plan
from graph.record.ending import Ending
from graph.record.events import Decided, Draft, PlanRevised, StandingGiven
from graph.review.decision import Decision, InvalidResponse
from graph.review.verdict import ReviewVerdict
from graph.run_context import RunContext
from graph.run_estimate import expected_of
from graph.run_events import revision
from graph.run_writer import RunWriter
from graph.state import StateUpdate
from graph.state_view import state_at_end, state_update, state_with_plan

UNCHANGED = "the edit changes nothing; approve what is shown, or change it"
PLAN_EXPECTED = 'an edit of the plan must have args: {"plan": {"steps": [...]}}'


async def decide(writer: RunWriter, subject: Subject, ballot: Ballot) -> StateUpdate:
    """Record all decisions in one write, and return the state update.

    Raises:
        InvalidResponse: A decision cannot be carried out; nothing is recorded.
    """
    verdict = ballot.verdict
    if verdict.stop is not None:
        return await _stop(writer, subject, verdict, verdict.stop)
    if verdict.feedback is not None:
        return await _send_back(writer, subject, verdict)
    run, plan = writer.run, subject.plan
    calls = edited_calls(run, plan, verdict)
    verdict, edited = calls.verdict, None
    if ballot.is_proposal:
        return await _propose(writer, plan, calls)
    if calls.plan is not None:
        return await _revise_by_calls(writer, calls)
    if verdict.plan is not None and verdict.plan.type == "edit":
        plan, edited = _edited(run, verdict.plan)
    if verdict.plan is not None and plan is None:
        raise InvalidResponse("this plan cannot be approved; edit it or reject it")
    standing = approvals_given(run, verdict, ballot.voters)
    if verdict.plan is None:
        decision = decided(run, plan, "settle", verdict, voters=ballot.voters)
    else:
        decision = decided(run, plan, "approve", verdict, message=verdict.plan.type, voters=ballot.voters)
    given = [Draft(StandingGiven(approval=approval)) for approval in standing if approval.run is not None]
    await writer.write(*([edited] if edited else []), decision, *given)
    for approval in standing:
        if approval.run is None:  # after the decision: a crash in between loses the wish, and the next call is shown
            await run.ledger.give_standing(approval)
    return _go_on(run, plan)


async def _propose(writer: RunWriter, plan: Plan | None, calls: EditedCalls) -> StateUpdate:
    """Put an edited plan or call to others, who have to approve it; its author counts as one who asked."""
    run, verdict = writer.run, calls.verdict
    edit = verdict.plan if calls.plan is None else Decision("edit", args={"plan": calls.plan})
    edited = None
    if edit is not None and edit.type == "edit":
        plan, edited = _edited(run, edit)
        if edited is not None and isinstance(edited.data, PlanRevised):
            edited = Draft(replace(edited.data, like_steps=await expected_of(run, plan)))
    changes = ReviewVerdict(edits=verdict.edits, rejected=verdict.rejected, decisions=verdict.decisions)
    # An edit that changes nothing would make its author one who asked, who could not approve any more (decision 73).
    if edited is None and not (changes.edits or changes.rejected):
        raise InvalidResponse(UNCHANGED)
    decision = decided(run, plan if edited else None, "propose", changes, message="edit")
    await writer.write(*([edited] if edited else []), decision)
    return _go_on(run, plan)


async def _revise_by_calls(writer: RunWriter, calls: EditedCalls) -> StateUpdate:
    """Put a plan in force with the arguments that a person gave its calls.

    It is thereby approved if a person approved the plan before and its whole change is what this one wrote; else it is
    reviewed like any.
    """
    run = writer.run
    plan, edited = _edited(run, Decision("edit", args={"plan": calls.plan}))
    before = run.record.review_state.approval
    is_approved = calls.is_shown and before is not None and before.by == "person"
    decision = decided(run, plan, "approve" if is_approved else "settle", calls.verdict, message="edit")
    await writer.write(*([edited] if edited else []), decision)
    return _go_on(run, plan)


def carried_out(run: RunContext, decision: Decided) -> StateUpdate:
    """Return the state update of a decision already on record for this checkpoint."""
    if decision.decision == "feedback":
        return plan_again(run, decision.message)
    return _go_on(run, None if run.record.plan_state.awaits_plan else run.recorded_plan())


def plan_again(run: RunContext, why: str | None) -> StateUpdate:
    """Return the state update of a run that returns to the planner."""
    return state_update(run, "plan", reason=f"planning again: {why}", doubts=[])


def _go_on(run: RunContext, plan: Plan | None) -> StateUpdate:
    """Execute the plan; if there is none because its budget was reached, return to the planner."""
    if plan is None:
        return state_update(run, "plan", reason="planning on", doubts=[])
    return state_with_plan(run, plan, "execute", doubts=[])


async def _stop(writer: RunWriter, subject: Subject, verdict: ReviewVerdict, stop: Decision) -> StateUpdate:
    # Of the verdict only the decisions are recorded: nothing else of a response that ends the run takes effect.
    run, word = writer.run, "finish" if stop.finishes else "reject"
    decision = decided(run, subject.plan, word, ReviewVerdict(decisions=verdict.decisions), message=stop.message)
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
    return state_at_end(run)


async def _send_back(writer: RunWriter, subject: Subject, verdict: ReviewVerdict) -> StateUpdate:
    """Return to the planner with feedback, at most `max_feedback` times."""
    run, words = writer.run, verdict.feedback
    most = run.services.settings.max_feedback
    if run.record.plan_state.feedback_rounds >= most:
        stop = Decision("reject", message=f"no agreement after {most} rounds")
        return await _stop(writer, subject, verdict, stop)
    await writer.write(decided(run, subject.plan, "feedback", verdict, message=words))
    return plan_again(run, words)


def _edited(run: RunContext, edit: Decision) -> tuple[Plan, Draft | None]:
    """Return the edited plan, and the event of the new revision if the plan differs."""
    assert edit.args is not None
    raw = edit.args.get("plan")
    if not isinstance(raw, dict | list):
        raise InvalidResponse(broken_json(raw) or PLAN_EXPECTED)
    reading = read_from_outside(run, raw)
    if reading.plan is None:
        faults = "; ".join(map(str, reading.issues))
        raise InvalidResponse(f"the edited plan cannot run: {faults}", reading.issues)
    if reading.plan.digest == run.record.plan_state.digest:
        return reading.plan, None
    edited = revision(run, reading.plan, "person", "edited in review", notes=reading.notes)
    return reading.plan, Draft(edited)
