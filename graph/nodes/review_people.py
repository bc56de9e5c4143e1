"""Who decides about a request and until when, by the policy, and who has voted so far."""

from collections.abc import Iterator
from dataclasses import replace

from graph.plan.catalog import ToolSpec
from graph.plan.schema import Plan
from graph.policy.approvers import ApproverRule, quorum_of
from graph.policy.time_limit import AFTERWARDS
from graph.record.budget import Budget
from graph.record.deadline import Deadline, moment_in_words
from graph.review.request import ReviewRequest
from graph.run_context import RunContext
from graph.text.review.frame import words


def with_people(run: RunContext, request: ReviewRequest) -> ReviewRequest:
    """Return a request with who decides it and until when; the time of an open request stays as it is on record.

    It begins with the last event of the run, which every node before the review reads alike (decision 0082).
    """
    approvers, about = run.terms.policy.approvers, (_tools(run, request), run.terms.bounds.cost_usd)
    before = run.record.review_state.request
    deadline = (
        before.deadline
        if before is not None and is_open(run, request)
        else approvers.deadline(*about, run.record.updated_at)
    )
    request = replace(request, rules=approvers.timed_rules(*about), deadline=deadline)
    said = (*_people(run, request), *(_time(run, request, deadline) if deadline is not None else ()))
    return replace(request, people=" ".join(said))


def is_open(run: RunContext, request: ReviewRequest) -> bool:
    """Whether the request open in the ledger has the same subject."""
    return run.record.review_state.request is not None and run.record.review_state.request.subject == request.subject


def rules_on(run: RunContext, request: ReviewRequest, budget: Budget | None = None) -> tuple[ApproverRule, ...]:
    """Return the rules on a decision about a request, empty if anybody decides; `budget` is the raised one."""
    policy, before = run.terms.policy, run.record.review_state.request
    cost = budget.within(policy.limits).cost_usd if budget is not None else run.terms.bounds.cost_usd
    escalated_s = before.escalated_s if before is not None and is_open(run, request) else 0.0
    return policy.approvers.rules(_tools(run, request), cost, escalated_s)


def _people(run: RunContext, request: ReviewRequest) -> Iterator[str]:
    """Yield who decides and who has voted, in Markdown."""
    rules = rules_on(run, request)
    if not rules:
        return
    askers = run.record.people.askers
    who = "; and ".join(words(str(rule)) for rule in rules)
    yield f"By the policy this takes: {who}."
    if any(quorum_of(rule, askers) > rule.quorum for rule in rules):
        yield "It is not verified who asked, so it takes two."
    votes = run.record.people.votes.get(request.subject, {}).values()
    if votes:
        yield f"Approved so far by: {', '.join(words(vote.approver) for vote in votes)}."


def _time(run: RunContext, request: ReviewRequest, deadline: Deadline) -> Iterator[str]:
    """Yield until when one decides and what follows, in Markdown."""
    yield f"Decide until {moment_in_words(deadline.until)}; after that {AFTERWARDS[deadline.on_expire]}."
    limits = run.terms.policy.approvers.time_limits(_tools(run, request), run.terms.bounds.cost_usd)
    for limit in limits:
        if limit.escalate_after_s in deadline.escalations_s:
            moment = moment_in_words(deadline.since + (limit.escalate_after_s or 0.0))
            yield f"From {moment} on also: {words(limit.others)}."


def _tools(run: RunContext, request: ReviewRequest) -> list[ToolSpec]:
    """Return the tools that a request is about."""
    specs = run.services.toolbox.specs
    named: list[str] = []
    for action in request.actions:
        if action.name == "run_plan":
            named += _tools_of(action.args["plan"])
        elif "tool" in action.args:
            named.append(action.args["tool"])
    return [specs[name] for name in dict.fromkeys(named) if name in specs]


def _tools_of(plan: object) -> list[str]:
    """Return the tools of a plan as it is shown; of one that cannot be read none, since it cannot be approved."""
    try:
        steps = Plan.model_validate(plan).steps
    except ValueError:
        return []
    return [name for step in steps for name in step.tool_names]
