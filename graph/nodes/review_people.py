"""Who decides about a request and until when, by the policy, and who has voted so far."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from graph.plan.catalog import ToolSpec
from graph.plan.schema import Plan
from graph.policy.approvers import NO_APPROVERS, ApproverRule, people_rules, quorum_of
from graph.policy.time_limit import AFTERWARDS, TimeLimit
from graph.record.budget import Budget
from graph.record.deadline import Deadline, moment_in_words
from graph.record.review_state import RecordedRequest
from graph.review.request import ReviewRequest
from graph.run_context import RunContext
from graph.text.review.frame import words


def with_people(run: RunContext, request: ReviewRequest) -> ReviewRequest:
    """Return a request with who decides it and until when; the time of an open request stays as it is on record.

    It begins with the last event of the run, which every node before the review reads alike (decision 0082).
    """
    approvers = run.terms.policy.approvers
    if approvers == NO_APPROVERS:
        return request
    about, before = (_tools(run, request), run.terms.bounds.cost_usd), _open(run, request)
    deadline = before.deadline if before is not None else approvers.deadline(*about, run.record.updated_at)
    rules, limits = approvers.timed_rules(*about), approvers.time_limits(*about)
    people = people_rules(rules, before.escalated_s if before is not None else 0.0)
    said = (*_people(run, request, people), *(_time(limits, deadline) if deadline is not None else ()))
    return replace(request, people=" ".join(said), rules=rules, deadline=deadline)


def is_open(run: RunContext, request: ReviewRequest) -> bool:
    """Whether the request open in the ledger has the same subject."""
    return _open(run, request) is not None


def _open(run: RunContext, request: ReviewRequest) -> RecordedRequest | None:
    """Return the request open in the ledger if it has the same subject."""
    found = run.record.review_state.request
    return found if found is not None and found.subject == request.subject else None


def rules_on(run: RunContext, request: ReviewRequest, budget: Budget | None = None) -> tuple[ApproverRule, ...]:
    """Return the rules on a decision about a request, empty if anybody decides; `budget` is the raised one."""
    policy, before = run.terms.policy, _open(run, request)
    if policy.approvers == NO_APPROVERS:
        return ()
    cost = budget.within(policy.limits).cost_usd if budget is not None else run.terms.bounds.cost_usd
    return policy.approvers.rules(_tools(run, request), cost, before.escalated_s if before is not None else 0.0)


def _people(run: RunContext, request: ReviewRequest, rules: Sequence[ApproverRule]) -> Iterator[str]:
    """Yield who decides and who has voted, in Markdown."""
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


def _time(limits: Sequence[TimeLimit], deadline: Deadline) -> Iterator[str]:
    """Yield until when one decides and what follows, in Markdown."""
    yield f"Decide until {moment_in_words(deadline.until)}; after that {AFTERWARDS[deadline.on_expire]}."
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
