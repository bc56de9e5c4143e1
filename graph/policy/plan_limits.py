"""What holds for the calls of a plan whoever decides: bounds of arguments, limits of the run, caps across runs."""

from collections.abc import Iterator

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.conditions import in_words
from planner_executor.graph.policy.day_limits import rate_cap
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.record.budget import unit_in_words


def limits_of_plan(plan: Plan, terms: ExecutionTerms) -> Iterator[str]:
    """Yield what nobody can approve or raise, one line each.

    Args:
        plan: A valid plan; values that it states are checked already.
        terms: The terms that it would run under.
    """
    yield from (line for step in plan.steps for line in _refused(step, terms))
    tools = {name for step in plan.steps for name in step.tool_names}
    limits = terms.policy.limits
    for name in limits.names:
        # A limit of a tool that the plan does not call is none of this plan's.
        if not name.startswith("calls.") or name.removeprefix("calls.") in tools:
            yield f"limited: {unit_in_words(name, limits.of(name) or 0)} in a run, which nobody can raise"
    yield from _caps(tools, terms.policy)


def _refused(step: Step, terms: ExecutionTerms) -> Iterator[str]:
    """Yield the bounds of arguments whose values are not known before the step is due."""
    for name in step.tool_names:
        rule, tool = terms.policy.tools.get(name), terms.tools[name]
        for argument, constraint in (rule.args if rule is not None else {}).items():
            if (words := in_words(constraint)) and argument in _filled_later(step, tool):
                yield f"refused: {step.id}: its call of {name}, unless {argument} {words}"


def _filled_later(step: Step, tool: ToolSpec) -> set[str]:
    """Return the arguments of a step's call of a tool that a result or a model fills in."""
    named = set(step.args) if step.tool or step.args else set(tool.parameters)
    return named - set(step.fixed_args())


def _caps(tools: set[str], policy: Policy) -> Iterator[str]:
    """Yield the caps across runs that calls of these tools count against; models may be asked by any step."""
    for cap in policy.per_day.all_caps():
        if not cap.name.startswith("calls.") or cap.name.removeprefix("calls.") in tools:
            yield f"counted: {cap}, over all runs; a run that reaches it pauses until midnight ({cap.time_zone})"
    for name, rate in policy.rates.items():
        if name in tools:
            yield f"counted: {rate_cap(name, rate)}, over all runs; a call waits for its turn"
