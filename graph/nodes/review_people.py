"""Who decides about a request and until when, by the policy, and who has voted so far."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from graph.plan.catalog import ToolSpec
from graph.plan.schema import Plan
from graph.policy.approvers import NO_APPROVERS, ApproverRule, have_to_approve, people_rules, quorum_of
from graph.policy.at_stake import AtStake
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
    shown, before = shown_stake(run, request), _open(run, request)
    tools, calls, cost = shown.tools, shown.calls, shown.cost_usd
    since = run.record.updated_at
    deadline = before.deadline if before is not None else approvers.deadline(tools, cost, since, calls=calls)
    rules, limits = approvers.timed_rules(tools, cost, calls=calls), approvers.time_limits(tools, cost, calls=calls)
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


def escalated_s(run: RunContext, request: ReviewRequest) -> float:
    """Return how many seconds after it was asked a request was escalated last, 0 if it was not."""
    before = _open(run, request)
    return before.escalated_s if before is not None else 0.0


def shown_stake(run: RunContext, request: ReviewRequest, budget: Budget | None = None) -> AtStake:
    """Return what a request is about: its plan, its calls, and what the run may cost; `budget` is the raised one."""
    specs, policy = run.services.toolbox.specs, run.terms.policy
    cost = budget.within(policy.limits).cost_usd if budget is not None else run.terms.bounds.cost_usd
    plans = [name for one in request.actions if one.name == "run_plan" for name in _tools_of(one.args["plan"])]
    calls = [one.args["tool"] for one in request.actions if "tool" in one.args]
    return AtStake(_known(plans, specs), _known(calls, specs), cost)


def _people(run: RunContext, request: ReviewRequest, rules: Sequence[ApproverRule]) -> Iterator[str]:
    """Yield who decides and who has voted, in Markdown."""
    if not rules:
        return
    askers = run.record.people.askers
    yield f"Policy: {have_to_approve(rules, words)}."
    if any(quorum_of(rule, askers) > rule.quorum for rule in rules):
        yield "It is not verified who asked, so two people have to."
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


def _known(names: Iterable[str], specs: Mapping[str, ToolSpec]) -> tuple[ToolSpec, ...]:
    return tuple(specs[name] for name in dict.fromkeys(names) if name in specs)


def _tools_of(plan: object) -> list[str]:
    """Return the tools of a plan as it is shown; of one that cannot be read none, since it cannot be approved."""
    try:
        steps = Plan.model_validate(plan).steps
    except ValueError:
        return []
    return [name for step in steps for name in step.tool_names]
