"""What a person was told that a plan may take, and what it took since they approved it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from planner_executor.graph.plan.schedule import critical_path
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.cost import NO_COST, StepCost
from planner_executor.graph.record.results import StepResult


class Said(NamedTuple):
    """What was said at the first approval (see `graph.review.expectation`), and what was spent by then.

    `done` are the steps that had succeeded by then, which were no part of it.
    """

    takes: Mapping[str, Any]
    before: StepCost = NO_COST
    done: frozenset[str] = frozenset()


def spent_since(said: Said, plan: Plan, results: Mapping[str, StepResult], total: StepCost) -> dict[str, float]:
    """Return what was spent since the approval, by the names of what was said.

    Time is that of the longest chain. The cost is left out if the price of an answer since then is unknown.
    """
    took = {step.id: _seconds(results.get(step.id)) if step.id not in said.done else 0.0 for step in plan.steps}
    longest = critical_path(plan.order, plan.waits, took)[0]
    found = {"seconds": round(longest, 1), "tokens": total.tokens - said.before.tokens}
    if total.unpriced == said.before.unpriced:
        found["cost_usd"] = round(total.known_usd - said.before.known_usd, 6)
    return {name: spent for name, spent in found.items() if name in said.takes}


def _seconds(result: StepResult | None) -> float:
    return (result.seconds if result is not None else None) or 0.0
