"""The reason that the policy requires of an approval: for what is shown, and for what comes into force."""

from collections.abc import Iterator
from dataclasses import replace

from planner_executor.graph.nodes.review.outcome import Outcome
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.remaining import steps_left
from planner_executor.graph.review.decision import InvalidResponse
from planner_executor.graph.review.request import ReviewAction, ReviewRequest
from planner_executor.graph.text.review.people import people_paragraph
from planner_executor.graph.words.name_list import listed


def with_reasons(run: RunContext, request: ReviewRequest) -> ReviewRequest:
    """Return a request that says for which of its tools an approval needs a reason."""
    plan = run.recorded_plan()
    found = [tool for action in request.actions if "approve" in action.allowed for tool in _tools(run, action, plan)]
    tools = _ruled(run, found)
    return replace(request, people=people_paragraph(request.decided_by, tools), reason_for=tools) if tools else request


def check_reasons(run: RunContext, request: ReviewRequest, outcome: Outcome) -> None:
    """Refuse an approval without the reason that the policy requires for what it lets happen.

    Raises:
        InvalidResponse: A decision has none.
    """
    verdict = outcome.verdict
    if verdict.stop is not None or verdict.feedback is not None:
        return
    for action, decision in zip(request.actions, verdict.decisions, strict=True):
        missing = (
            _ruled(run, _tools(run, action, outcome.plan))
            if decision.type != "reject" and decision.reason is None
            else ()
        )
        if missing:
            raise InvalidResponse(
                f"the policy requires a reason to approve {listed(list(missing))}: give the approval a reason, in words"
            )


def _tools(run: RunContext, action: ReviewAction, plan: Plan | None) -> Iterator[str]:
    """Yield the tools that a yes to an action lets be called; `plan` is the one in force then."""
    if action.name == "run_step" and action.key is not None:
        yield action.args["tool"]
    elif action.name == "run_plan" and plan is not None:
        yield from (tool for step in steps_left(plan, run.record.steps.results) for tool in step.tool_names)


def _ruled(run: RunContext, tools: Iterator[str] | list[str]) -> tuple[str, ...]:
    return tuple(tool for tool in dict.fromkeys(tools) if run.terms.policy.takes_reason(tool))
