"""Upper bounds on the cost of a plan, shown before it is approved."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from planner_executor.graph.plan.attempts import NO_LIMITS, AttemptLimits
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.json_values import INT64
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schedule import critical_path
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.remaining import steps_left
from planner_executor.graph.record.run_state import RunState

NO_TOOLS: Mapping[str, ToolSpec] = MappingProxyType({})


def estimate(
    plan: Plan,
    record: RunState,
    budget: Budget,
    tools: Mapping[str, ToolSpec] = NO_TOOLS,
    limits: AttemptLimits = NO_LIMITS,
) -> dict[str, Any]:
    """Return upper bounds on the remaining work, and the remaining budget.

    `tool_calls` includes `further_attempts`, as the limits of steps, of `tools` and of the settings (`limits`) allow.
    `longest_chain` is the number of steps on the longest chain of dependencies, `to_refine` the number of `refine`
    steps, whose calls cannot be counted yet. Model turns within a step are not counted.
    """
    left = steps_left(plan, record.steps.results)
    done_by = {step.id: kind_spec(step.kind).done_by for step in left}
    counted = [step for step in left if done_by[step.id] != "planner"]
    # What is settled takes nothing, but still holds the chains together that lead through it.
    duration = {step.id: float(step.id in done_by) for step in plan.steps}
    calls = [(step, tool, step.most_items * (step.max_calls or 1)) for step in counted for tool in step.tool_names]
    further = sum(count * (_attempts(step, tool, tools, limits) - 1) for step, tool, count in calls)
    found: dict[str, Any] = {
        "steps": len(left),
        "tool_calls": _storable(sum(count for _, _, count in calls) + further),
        "model_steps": sum(done_by[step.id] == "model" for step in left),
        "longest_chain": int(critical_path(plan.order, plan.waits, duration)[0]),
    }
    if further:
        found["further_attempts"] = _storable(further)
    if len(counted) < len(left):
        found["to_refine"] = len(left) - len(counted)
    if budget.names:
        usage = record.spending.usage_under(budget)
        found["budget_left"] = {name: (budget.of(name) or 0) - usage.of(name) for name in budget.names}
    return found


def _storable(count: int) -> int:
    # Each number of the plan has 64 bits, their product may have more, which no checkpoint could hold.
    return min(count, INT64[1])


def _attempts(step: Step, tool: str, tools: Mapping[str, ToolSpec], limits: AttemptLimits) -> int:
    return limits.lowest(tools[tool].attempt_limits if tool in tools else NO_LIMITS, step.attempt_limits).most
