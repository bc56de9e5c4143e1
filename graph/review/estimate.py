"""Upper bounds on the cost of a plan, shown before it is approved."""

from typing import Any

from graph.plan.kinds.table import kind_spec
from graph.plan.schedule import critical_path, waits_for
from graph.plan.schema import Plan
from graph.record.budget import Budget
from graph.record.remaining import steps_left
from graph.record.run_state import RunState


def estimate(plan: Plan, record: RunState, budget: Budget) -> dict[str, Any]:
    """Return upper bounds on the remaining work, and the remaining budget.

    `longest_chain` is the number of steps on the longest chain of dependencies, `to_refine` the number of `refine`
    steps, whose calls cannot be counted yet. Model turns within a step are not counted.
    """
    left = steps_left(plan, record.steps.results)
    done_by = {step.id: kind_spec(step.kind).done_by for step in left}
    counted = [step for step in left if done_by[step.id] != "planner"]
    waits = waits_for(plan.steps)
    duration = {step.id: float(step.id in done_by) for step in plan.steps}
    found: dict[str, Any] = {
        "steps": len(left),
        "tool_calls": sum(step.most_items * len(step.tool_names) * (step.max_calls or 1) for step in counted),
        "model_steps": sum(done_by[step.id] == "model" for step in left),
        "longest_chain": int(critical_path(waits, duration)[0]) if plan.steps else 0,
    }
    if len(counted) < len(left):
        found["to_refine"] = len(left) - len(counted)
    if budget.names:
        usage = record.spending.usage_under(budget)
        found["budget_left"] = {name: (budget.of(name) or 0) - usage.of(name) for name in budget.names}
    return found
