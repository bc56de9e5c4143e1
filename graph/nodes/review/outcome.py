"""The outcome of an answer: what comes into force if it is carried out, and which calls its values reach."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from planner_executor.graph.nodes.review.edits import edited_calls
from planner_executor.graph.nodes.review.people import cost_under
from planner_executor.graph.nodes.review.subject import Subject, read_from_outside
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.events import revision
from planner_executor.graph.plan.broken_json import broken_json
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approvers import NO_APPROVERS
from planner_executor.graph.policy.at_stake import NOTHING_AT_STAKE, AtStake
from planner_executor.graph.policy.inheritance import steps_anew
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.values_of_people import values_given
from planner_executor.graph.review.decision import Decision, InvalidResponse
from planner_executor.graph.review.verdict import ReviewVerdict

PLAN_EXPECTED = 'an edit of the plan must have args: {"plan": {"steps": [...]}}'


@dataclass(frozen=True)
class Outcome:
    """The verdict, with the edits of calls that stay within their grants, and the plan that holds afterwards.

    `edited` is the event of its revision if the plan differs, `by_calls` whether the edits of single calls make it, and
    `is_shown` whether they are all that it changes. `brings` is at stake beside what was shown, `reaches` are the calls
    that rest on the answer's values; `steps` are those of all these calls.
    """

    verdict: ReviewVerdict
    plan: Plan | None = None
    edited: Draft | None = None
    by_calls: bool = False
    is_shown: bool = True
    brings: AtStake = NOTHING_AT_STAKE
    reaches: AtStake = NOTHING_AT_STAKE
    steps: frozenset[str] = frozenset()

    @property
    def is_edit(self) -> bool:
        """Whether the answer changes the plan or a call."""
        edits_plan = self.verdict.plan is not None and self.verdict.plan.type == "edit"
        return bool(self.verdict.edits) or self.by_calls or edits_plan


def outcome_of(run: RunContext, subject: Subject, verdict: ReviewVerdict) -> Outcome:
    """Return the outcome of a verdict; one that ends the run, or returns it to the planner, changes no plan.

    Raises:
        InvalidResponse: An edit cannot be carried out.
    """
    plan = subject.plan
    if verdict.stop is not None:
        return Outcome(verdict, plan)
    if verdict.feedback is not None:
        return _with_reach(run, Outcome(verdict, plan))
    calls = edited_calls(run, plan, verdict)
    edit = calls.verdict.plan if calls.plan is None else Decision("edit", args={"plan": calls.plan})
    found = Outcome(calls.verdict, plan, by_calls=calls.plan is not None, is_shown=calls.is_shown)
    if edit is not None and edit.type == "edit":
        after, edited = _edited(run, edit)
        found = replace(found, plan=after, edited=edited)
        changed = _changed(plan, after) if found.by_calls else after.by_id.keys()
        found = replace(found, brings=_stake(run, after, changed, verdict), steps=frozenset(changed))
    return _with_reach(run, found)


def _with_reach(run: RunContext, outcome: Outcome) -> Outcome:
    """Return the outcome with the calls that rest on the values of its verdict."""
    verdict, plan, proposed = outcome.verdict, outcome.plan, run.record.review_state.replaced
    if plan is None or run.terms.policy.approvers == NO_APPROVERS:
        return outcome
    # Who writes a value decides about the calls that rest on it, so their rules have to be met (decision 115).
    values = values_given(
        run.record,
        given=verdict.given,
        replies=verdict.replies,
        results={one["key"]: one["result"] for one in verdict.settled if one["happened"]},
        edits={**{key: proposed[key] for key in verdict.calls if key in proposed}, **verdict.edits},
        rejected=verdict.rejected,
        budget=verdict.budget,
    )
    reached = {step for _, value in values for step in value.reached(plan)}
    reached = {step for step in reached if not run.record.steps.is_settled(step)}
    return replace(outcome, reaches=_stake(run, plan, reached, verdict), steps=outcome.steps | reached)


def _stake(run: RunContext, plan: Plan, steps: Collection[str], verdict: ReviewVerdict) -> AtStake:
    return AtStake.of_steps(plan, steps, run.services.toolbox.specs, cost_under(run, verdict.budget))


def _changed(before: Plan | None, after: Plan) -> list[str]:
    """Return the steps that differ, and those that depend on one of them."""
    known = before.by_id if before is not None else {}
    return steps_anew(after, {step.id for step in after.steps if not step.same_as(known.get(step.id))})


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
    # Equal to the plan on record: that is no edit, and needs no revision.
    if reading.plan.digest == run.record.plan_state.digest:
        return reading.plan, None
    edited = revision(run, reading.plan, "person", "edited in review", notes=reading.notes)
    return reading.plan, Draft(edited)
