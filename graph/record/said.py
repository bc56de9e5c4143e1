"""What a person was told that a plan may take, and what it took since they approved it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.plan.schedule import critical_path, waits_for
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.results import StepResult


@dataclass(frozen=True)
class Said:
    """What was said at the first approval (see `graph.review.expectation`), and what was spent by then."""

    takes: Mapping[str, Any]
    tokens: int = 0
    cost_usd: float = 0.0


def spent_since(
    said: Said, plan: Plan, results: Mapping[str, StepResult], tokens: int, cost_usd: float
) -> dict[str, float]:
    """Return what was spent since the approval, by the names of what was said; time is that of the longest chain."""
    took = {step.id: _seconds(results.get(step.id)) for step in plan.steps}
    longest = critical_path(waits_for(plan.steps), took)[0] if took else 0.0
    paid_usd = round(cost_usd - said.cost_usd, 6)
    found = {"seconds": round(longest, 1), "tokens": tokens - said.tokens, "cost_usd": paid_usd}
    return {name: spent for name, spent in found.items() if name in said.takes}


def _seconds(result: StepResult | None) -> float:
    if result is None or result.started_at is None or result.ended_at is None:
        return 0.0
    return max(0.0, result.ended_at - result.started_at)
