"""Metering of a run's budget: reserved before a call, settled after it, safe under parallel steps."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from planner_executor.graph.record.budget import Budget, Price, Usage, reached

CHARACTERS_PER_TOKEN = 4
ANSWER_TOKENS = 1_000
"""Tokens reserved for a model's answer until its usage is known."""


class LimitReached(Exception):
    """The call would exceed a limit; the run asks a person. Never leaves the node."""

    def __init__(self, limit: str) -> None:
        self.limit = limit
        super().__init__(f"the budget's limit of {limit} is reached")


@dataclass(frozen=True)
class Reservation:
    """The part of the budget reserved for a model call."""

    model: str
    tokens: int
    cost_usd: float

    def to_json(self) -> dict[str, float]:
        """Return the reservation for the ledger; it counts as spent until the usage is known."""
        return {"tokens": self.tokens, **({"cost_usd": self.cost_usd} if self.cost_usd else {})}


class Meter:
    """Meter of one run's spending on top of its recorded usage.

    `worked_s` returns this owner's working time, `elapsed_s` the time since the start of the run, both in seconds.
    """

    def __init__(
        self,
        budget: Budget,
        usage: Usage,
        prices: Mapping[str, Price],
        worked_s: Callable[[], float] = lambda: 0.0,
        elapsed_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.budget, self.usage = budget, usage
        self._prices, self._worked_s, self._before_s = prices, worked_s, usage.wall_s
        self._elapsed_s = elapsed_s
        self._begun: set[str] = set()

    @property
    def bounded(self) -> bool:
        """Whether the budget has any limit."""
        return bool(self.budget.names)

    @property
    def wall_s(self) -> float | None:
        """Seconds of work so far, None if there is no limit on them."""
        return None if self.budget.wall_s is None else self._before_s + self._worked_s()

    def reserve_call(self, tool: str, step: str, *, begins: bool) -> None:
        """Reserve a tool call, and a step if the call begins one.

        Raises:
            LimitReached: A limit does not allow it.
        """
        if self.bounded:
            self._reserve(Usage(tool_calls=1, steps=self._step(step, begins), calls={tool: 1}))
            self._begun.add(step)

    def reserve_model(
        self, model: str, characters: int, step: str | None = None, *, begins: bool = False
    ) -> Reservation:
        """Reserve a model call: the prompt by its length, the answer by an estimate.

        Raises:
            LimitReached: A limit does not allow it.
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
        """Replace a reservation with the actual usage; return the price of the call, None if unknown.

        Args:
            aside: The reservation.
            used: Token counts of the answer.
            model: The model that answered, which may be a fallback.
        """
        price = self._prices.get(model)
        found = used or {}
        read, written = found.get("input_tokens") or 0, found.get("output_tokens") or 0
        paid_usd = price.cost_usd(read, written) if price and used else None
        # Some servers give no total.
        tokens = found.get("total_tokens") or read + written
        if self.bounded:
            # The reservation made room ahead; what was not used comes back, and more than that counts as well.
            self.usage = self.usage.plus(tokens=tokens - aside.tokens, cost_usd=(paid_usd or 0.0) - aside.cost_usd)
        return paid_usd

    def _step(self, step: str, begins: bool) -> int:
        return int(begins and step not in self._begun)

    def _reserve(self, more: Usage) -> None:
        # Times pass without a call, and are brought up to now before the limits are looked at.
        if (worked_s := self.wall_s) is not None:
            self.usage = self.usage.plus(wall_s=worked_s - self.usage.wall_s)
        if self.budget.elapsed_s is not None:
            self.usage = replace(self.usage, elapsed_s=self._elapsed_s())
        if limit := reached(self.budget, self.usage, more):
            raise LimitReached(limit)
        self.usage = self.usage.plus(
            model_calls=more.model_calls,
            tokens=more.tokens,
            cost_usd=more.cost_usd,
            tool_calls=more.tool_calls,
            steps=more.steps,
            calls=more.calls,
        )
