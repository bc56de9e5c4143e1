"""Who decides about a request, by the policy, and who has voted so far."""

from graph.plan.schema import Plan
from graph.policy.approvers import ApproverRule, quorum_of
from graph.record.budget import Budget
from graph.review.request import ReviewRequest
from graph.run_context import RunContext
from graph.text.review.frame import words


def rules_on(run: RunContext, request: ReviewRequest, budget: Budget | None = None) -> tuple[ApproverRule, ...]:
    """Return the rules on a decision about a request, empty if anybody decides; `budget` is the raised one."""
    policy, specs = run.terms.policy, run.services.toolbox.specs
    named: list[str] = []
    for action in request.actions:
        if action.name == "run_plan":
            named += _tools_of(action.args["plan"])
        elif "tool" in action.args:
            named.append(action.args["tool"])
    tools = [specs[name] for name in dict.fromkeys(named) if name in specs]
    cost = budget.within(policy.limits).cost_usd if budget is not None else run.terms.bounds.cost_usd
    return policy.approvers.rules(tools, cost)


def people_of(run: RunContext, request: ReviewRequest) -> str:
    """Return who decides and who has voted, as a paragraph in Markdown; empty if anybody decides."""
    rules = rules_on(run, request)
    if not rules:
        return ""
    askers = run.record.people.askers
    who = "; and ".join(words(str(rule)) for rule in rules)
    paragraph = f"By the policy this takes: {who}."
    if any(quorum_of(rule, askers) > rule.quorum for rule in rules):
        paragraph += " It is not verified who asked, so it takes two."
    votes = run.record.people.votes.get(request.subject, {}).values()
    voted = ", ".join(words(vote.approver) for vote in votes)
    return paragraph + (f" Approved so far by: {voted}." if voted else "")


def _tools_of(plan: object) -> list[str]:
    """Return the tools of a plan as it is shown; of one that cannot be read none, since it cannot be approved."""
    try:
        steps = Plan.model_validate(plan).steps
    except ValueError:
        return []
    return [name for step in steps for name in step.tool_names]
