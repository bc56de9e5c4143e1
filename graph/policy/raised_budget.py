"""A budget that a person changes while a run is on record."""

from typing import Any

from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.record.budget import Budget, read_budget


def read_raised(raw: Any, before: Budget, terms: ExecutionTerms) -> tuple[Budget, str | None]:
    """Return the changed budget, and what is wrong with it: a fault, or a hard limit of the policy that it exceeds.

    Args:
        raw: The whole budget as plain data.
        before: The budget so far.
        terms: The current terms of the run.
    """
    budget, faults = read_budget(raw)
    faults += [(f"calls.{tool}", "is not a known tool") for tool in budget.calls if tool not in terms.tools]
    if budget.cost_usd is not None and before.cost_usd is None:
        faults.append(("cost_usd", "cannot be set during a run, because prices are checked when a graph is built"))
    if faults:
        return before, "; ".join(f"{name} {why}" for name, why in faults)
    if over := budget.beyond(terms.policy.limits):
        return before, f"the policy's hard limit of {', '.join(over)} cannot be raised"
    return budget, None
