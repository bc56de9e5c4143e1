"""What one pass over a plan has written and spent so far, for whoever reports it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from planner_executor.graph.record.cost import NO_COST, StepCost, cost_with
from planner_executor.graph.record.events import Draft


@dataclass
class Tally:
    """Counts the events that the gates write: the run's last sequence number, and the cost of each step."""

    sequence: int = 0
    costs: dict[str, StepCost] = field(default_factory=dict)

    def note(self, sequence: int, drafts: Sequence[Draft]) -> None:
        """Count events that are on record up to this sequence number."""
        # Of two writes that are under way at once, the later one may be noted first.
        self.sequence = max(self.sequence, sequence)
        for draft in drafts:
            if draft.step is not None:
                self.costs[draft.step] = cost_with(self.cost(draft.step), draft.data)

    def cost(self, step: str) -> StepCost:
        """Return what a step has cost in this pass."""
        return self.costs.get(step, NO_COST)
