"""The one count of calls, tokens and dollars, of which every surface shows a part.

A run's total is folded by it (`graph.record.spending`), and so is the cost of each step (`graph.record.step_costs`).
"""

from typing import NamedTuple

from pydantic import with_config
from typing_extensions import TypedDict  # before Python 3.12 pydantic reads none of typing's own

from planner_executor.graph.record.events import CallStarted, EventData, ModelFinished, ModelStarted
from planner_executor.graph.record.published_schema import CLOSED
from planner_executor.graph.words.name_list import counted

PLANNING = "planning"
"""Stands for model calls that belong to no step."""


@with_config(CLOSED)
class Cost(TypedDict):
    """What a step has cost; `cost_usd` is null if a price is not known."""

    tool_calls: int
    model_calls: int
    tokens: int
    cost_usd: float | None


class StepCost(NamedTuple):
    """Calls that were begun, tokens of those that were answered, and US dollars.

    `known_usd` is the sum of known prices; `unpriced` answers have none. A request without an answer costs nothing.
    """

    tool_calls: int = 0
    model_calls: int = 0
    tokens: int = 0
    known_usd: float = 0.0
    unpriced: int = 0

    @property
    def cost_usd(self) -> float | None:
        """US dollars, None if the price of an answer is unknown."""
        return None if self.unpriced else self.known_usd

    def to_json(self) -> Cost:
        """Return the cost as data."""
        return {
            "tool_calls": self.tool_calls,
            "model_calls": self.model_calls,
            "tokens": self.tokens,
            "cost_usd": self.cost_usd,
        }

    def __str__(self) -> str:
        """Return the cost in words.

        >>> str(StepCost(1, 2, 340, 0.0021)), str(StepCost(0, 1, 5, unpriced=1))
        ('1 tool call, 2 model calls, 340 tokens, 0.0021 US dollars', '1 model call, 5 tokens, price unknown')
        >>> str(StepCost(0, 2, 345, 0.0021, unpriced=1))
        '2 model calls, 345 tokens, at least 0.0021 US dollars, price unknown'
        """
        parts = [_counted(self.tool_calls, "tool call"), _counted(self.model_calls, "model call")]
        parts.append(_counted(self.tokens, "token"))
        if self.model_calls and (self.known_usd or not self.unpriced):
            parts.append(f"{'at least ' if self.unpriced else ''}{self.known_usd:.6g} US dollars")
        return ", ".join(filter(None, [*parts, "price unknown" if self.unpriced else ""]))


NO_COST = StepCost()


def cost_with(before: StepCost, data: EventData) -> StepCost:
    """Return the cost after an event; most events cost nothing."""
    if isinstance(data, CallStarted):
        return before._replace(tool_calls=before.tool_calls + 1)
    if isinstance(data, ModelStarted):
        return before._replace(model_calls=before.model_calls + 1)
    if isinstance(data, ModelFinished):
        tokens = data.usage.total_tokens if data.usage is not None else 0
        return before._replace(
            tokens=before.tokens + tokens,
            known_usd=before.known_usd + (data.paid_usd or 0.0),
            unpriced=before.unpriced + (data.paid_usd is None),
        )
    return before


def _counted(count: int, what: str) -> str:
    return counted(count, what) if count else ""
