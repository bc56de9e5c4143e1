"""What forbids a plan, whoever wrote it: asked while a person edits it, and before it comes into force."""

from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.record.replacement import replaces_issues
from planner_executor.graph.record.run_state import RunState


def forbidden(plan: Plan, terms: ExecutionTerms, record: RunState) -> list[Issue]:
    """Return the issues with a plan under the terms of its run, its constraints, and what has succeeded."""
    return [
        *terms.issues(plan),
        *record.assignment.constraint_issues(plan),
        *replaces_issues(plan, record.plan_state.planned, record.steps.succeeded),
    ]
