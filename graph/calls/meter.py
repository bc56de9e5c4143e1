"""The budget of a run as it is spent: reserved before a call, settled after it, safe under parallel steps."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from graph.record.budget import Budget, Price, Usage, reached

CHARACTERS_PER_TOKEN = 4
ANSWER_TOKENS = 1_000
"""What a model's answer is taken to cost until it is known."""


class BudgetReached(Exception):
    """A limit does not allow the call; the run checks in with a person. It never leaves the node."""

    def __init__(self, limit: str) -> None:
        self.limit = limit
        super().__init__(f"the budget's limit of {limit} is reached")


@dataclass(frozen=True)
class Reservation:
    """What was set aside for a model call."""

    model: str
    tokens: int
    cost_usd: float

    def to_json(self) -> dict[str, float]:
        """Return it as the ledger keeps it: it stands for what the call took until that is known."""
        return {"tokens": self.tokens, **({"cost_usd": self.cost_usd} if self.cost_usd else {})}


class Meter:
    """Counts one run's spending from what the ledger knew of it; `worked_s` says how long this owner has worked."""

    def __init__(
        self, budget: Budget, usage: Usage, prices: Mapping[str, Price], worked_s: Callable[[], float] = lambda: 0.0
    ) -> None:
        self.budget, self.usage = budget, usage
        self._prices, self._worked_s, self._before_s = prices, worked_s, usage.wall_s
        self._begun: set[str] = set()

    @property
    def bounded(self) -> bool:
        """Whether there is anything to count against."""
        return bool(self.budget.names)

    @property
    def wall_s(self) -> float | None:
        """Seconds of work so far, None where nothing bounds them."""
        return None if self.budget.wall_s is None else self._before_s + self._worked_s()

    def reserve_call(self, tool: str, step: str, *, begins: bool) -> None:
        """Set a tool call aside, and a step where it begins one.

        Raises:
            BudgetReached: A limit does not allow it.
        """
        if self.bounded:
            self._reserve(Usage(tool_calls=1, steps=self._step(step, begins), calls={tool: 1}))
            self._begun.add(step)

    def reserve_model(
        self, model: str, characters: int, step: str | None = None, *, begins: bool = False
    ) -> Reservation:
        """Set a model call aside: its prompt by its length, its answer by a guess.

        Raises:
            BudgetReached: A limit does not allow it.
        """
        prompt = characters // CHARACTERS_PER_TOKEN
        price = self._prices.get(model)
        cost_usd = price.cost_usd(prompt, ANSWER_TOKENS) if price else 0.0
        aside = Reservation(model, prompt + ANSWER_TOKENS, cost_usd)
        if self.bounded:
            steps = self._step(step, begins) if step else 0
            self._reserve(Usage(model_calls=1, tokens=aside.tokens, cost_usd=cost_usd, steps=steps))
            self._begun.update([step] if step else [])
        return aside

    def settle(self, aside: Reservation, used: Mapping[str, Any] | None, model: str) -> float | None:
        """Put what a call did use in the place of what was set aside; return its price, None where none is known.

        Args:
            aside: What was set aside.
            used: Token counts of the answer.
            model: Who gave it: a model may have stood in for another.
        """
        price = self._prices.get(model)
        found = used or {}
        read, written = found.get("input_tokens") or 0, found.get("output_tokens") or 0
        paid_usd = price.cost_usd(read, written) if price and used else None
        tokens = found.get("total_tokens") or read + written
        if self.bounded:
            self.usage = self.usage.plus(tokens=tokens - aside.tokens, cost_usd=(paid_usd or 0.0) - aside.cost_usd)
        return paid_usd

    def _step(self, step: str, begins: bool) -> int:
        return int(begins and step not in self._begun)

    def _reserve(self, more: Usage) -> None:
        if (worked_s := self.wall_s) is not None:
            self.usage = self.usage.plus(wall_s=worked_s - self.usage.wall_s)
        if limit := reached(self.budget, self.usage, more):
            raise BudgetReached(limit)
        self.usage = self.usage.plus(
            model_calls=more.model_calls,
            tokens=more.tokens,
            cost_usd=more.cost_usd,
            tool_calls=more.tool_calls,
            steps=more.steps,
            calls=more.calls,
        )
