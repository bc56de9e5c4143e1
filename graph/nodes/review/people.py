"""Who decides about a request and until when, by the policy, and who has voted so far."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from planner_executor.graph.calls.ruled_calls import RuledCalls
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approver_rule import nobody_left, people_rules, quorum_of
from planner_executor.graph.policy.approvers import NO_APPROVERS
from planner_executor.graph.policy.at_stake import AtStake, under_four_eyes
from planner_executor.graph.policy.decision_deadline import TimeLimit
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.deadline import Deadline
from planner_executor.graph.record.review_state import RecordedRequest
from planner_executor.graph.record.values_of_people import values_given
from planner_executor.graph.review.content import Escalation, PeopleContent, Reach
from planner_executor.graph.review.request import ReviewRequest
from planner_executor.graph.text.review.people import people_paragraph


def with_people(run: RunContext, request: ReviewRequest) -> ReviewRequest:
    """Return a request with who decides it and until when; the time of an open request stays as it is on record.

    It begins with the last event of the run, which every node before the review reads alike (decision 0082).
    """
    approvers = run.terms.policy.approvers
    if approvers == NO_APPROVERS:
        return request
    shown, before = shown_stake(run, request), _open(run, request)
    tools, calls, cost = shown.tools, shown.calls, shown.cost_usd
    since = run.record.updated_at
    # A request that is shown again has no more time than it had.
    deadline = before.shown.deadline if before is not None else approvers.deadline(tools, cost, since, calls=calls)
    rules, limits = approvers.timed_rules(tools, cost, calls=calls), approvers.time_limits(tools, cost, calls=calls)
    askers = askers_on(run, request, run.recorded_plan())
    ruling = people_rules(rules, escalated_s(run, request))
    content = PeopleContent(
        rules=tuple(rule.to_json() for rule in ruling),
        asked_by=tuple(askers),
        approved_by=tuple(vote.approver for vote in run.record.people.votes.get(request.subject, {}).values()),
        takes_two=any(quorum_of(rule, askers) > rule.quorum for rule in ruling),
        nobody_left=nobody_left(rules, askers) if ruling else (),
        reach=_reach(run, request),
        until=deadline.until if deadline is not None else None,
        on_expire=deadline.on_expire if deadline is not None else None,
        escalations=tuple(_escalations(limits, deadline)) if deadline is not None else (),
    )
    more = tuple(label for label in askers if label not in run.record.people.askers)
    text = people_paragraph(content)
    return replace(request, people=text, rules=rules, deadline=deadline, askers=more, decided_by=content)


def is_open(run: RunContext, request: ReviewRequest) -> bool:
    """Whether the request open in the ledger has the same subject."""
    return _open(run, request) is not None


def _open(run: RunContext, request: ReviewRequest) -> RecordedRequest | None:
    """Return the request open in the ledger if it has the same subject."""
    found = run.record.review_state.request
    return found if found is not None and found.shown.subject == request.subject else None


def escalated_s(run: RunContext, request: ReviewRequest) -> float:
    """Return how many seconds after it was asked a request was escalated last, 0 if it was not."""
    before = _open(run, request)
    return before.escalated_s if before is not None else 0.0


def shown_stake(run: RunContext, request: ReviewRequest, budget: Budget | None = None) -> AtStake:
    """Return what a request is about: its plan, its calls, and what the run may cost; `budget` is the raised one.

    A call that rests on a plan or a value of people who did not meet the rules on plans counts as a part of a plan too:
    the rules on single calls decide about it beside these, never in their place.
    """
    plans = [name for one in request.actions for name in one.tools]
    # Gates have a tool in name only, which `tools_named` does not find.
    calls = [one.args["tool"] for one in request.actions if "tool" in one.args]
    ruled, held = RuledCalls(run.record, run.terms.policy), run.record.review_state.held
    shown = [held[one.key] for one in request.actions if one.name == "run_step" and one.key in held]
    made = [(call.step, tool) for call in shown for tool in tools_named(run, [call.event.tool])]
    # Rules on plans and rules on calls both hold: such a call counts among the plan's tools as well.
    plans += [tool.name for step, tool in made if ruled.unmet(step, tool)]
    return AtStake(tools_named(run, plans), tools_named(run, calls), cost_under(run, budget))


def tools_named(run: RunContext, names: Iterable[str]) -> tuple[ToolSpec, ...]:
    """Return the tools of these names, each once; a gate is none."""
    specs = run.services.toolbox.specs
    return tuple(specs[name] for name in dict.fromkeys(names) if name in specs)


def cost_under(run: RunContext, budget: Budget | None) -> float | None:
    """Return what the run may cost in US dollars, with the raised budget if there is one; None without a bound."""
    return budget.within(run.terms.policy.limits).cost_usd if budget is not None else run.terms.bounds.cost_usd


def askers_on(
    run: RunContext, request: ReviewRequest, plan: Plan | None, steps: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the labels of those who asked for what a request is about, and for these steps of a plan.

    Whoever gave a value counts only for calls of tools whose rules take four eyes.
    """
    people, approvers, cost = run.record.people, run.terms.policy.approvers, run.terms.bounds.cost_usd
    if plan is None or not people.values or approvers == NO_APPROVERS:
        return people.askers
    asked = {str(one.args["step"]).partition("[")[0] for one in request.actions if "step" in one.args}
    about = plan.by_id.keys() if any(one.name == "run_plan" for one in request.actions) else {*asked, *steps}
    left = [step for step in about if not run.record.steps.is_settled(step)]
    eyes = under_four_eyes(plan, left, run.services.toolbox.specs, approvers, cost)
    return people.askers_of(plan, eyes)


def _reach(run: RunContext, request: ReviewRequest) -> Reach | None:
    """Return whose answer decides about the calls too that rest on it."""
    plan, specs, actions = run.recorded_plan(), run.services.toolbox.specs, request.actions
    # With the plan all of its calls are shown, and its rules decide about them.
    if plan is None or any(one.name == "run_plan" for one in actions):
        return None
    asked = [one for one in actions if one.name == "answer_question" or (one.name == "run_step" and one.key is None)]
    # What will be given is not known yet, and need not be: which calls it reaches follows from the plan.
    values = values_given(
        run.record,
        given={one.args["step"]: None for one in asked if one.key is None},
        replies={one.key: None for one in asked if one.key is not None},
        budget=run.terms.budget if any(one.name == "raise_budget" for one in actions) else None,
    )
    reached = {step for _, one in values for step in one.reached(plan) if not run.record.steps.is_settled(step)}
    stake = AtStake.of_steps(plan, reached, specs, cost_under(run, None))
    found = stake.reach(run.terms.policy.approvers, escalated_s(run, request))
    return Reach(tools=found.tools, rules=tuple(rule.to_json() for rule in found.rules)) if found is not None else None


def _escalations(limits: Sequence[TimeLimit], deadline: Deadline) -> Iterator[Escalation]:
    """Yield from when on others decide too."""
    for limit in limits:
        if limit.escalate_after_s in deadline.escalations_s:
            at = deadline.since + (limit.escalate_after_s or 0.0)
            yield Escalation(at=at, names=limit.to_names, roles=limit.to_roles)
