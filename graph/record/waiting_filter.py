"""Which open requests are wanted, and which of them come first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from planner_executor.graph.record.summary import RunSummary

NEVER = 1e12
"""The place of a request without a deadline among those that have one, in Unix seconds."""
WaitingOrder = Literal["age", "deadline", "cost", "amount"]
VALUES: Mapping[WaitingOrder, Callable[[RunSummary], float]] = {
    "age": lambda run: run.waiting_since or 0.0,
    "deadline": lambda run: NEVER if run.until is None else run.until,
    "cost": lambda run: -run.cost_usd,
    "amount": lambda run: -(run.amount or 0.0),
}
"""What comes first, by its value: the longest wait, the next deadline, what has cost most so far, or moves most."""


class Waiting(NamedTuple):
    """The place of a run among those that wait: its value in the order, then the run, of which the oldest is first."""

    value: float
    thread: str
    n: int


@dataclass(frozen=True, kw_only=True)
class WaitingFilter:
    """Conditions that open requests meet; unset ones are ignored.

    `text`: words in what is told of the run, see `RunSummary.told`. `asks`: what is asked, such as `run_plan`.
    """

    text: str = ""
    asks: tuple[str, ...] = ()
    order: WaitingOrder = "age"

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are looked for."""
        return tuple(self.text.casefold().split())

    def tells(self, run: RunSummary) -> bool:
        """Whether all words are in what is told of a run."""
        return all(word in run.told for word in self.words)

    def has(self, run: RunSummary) -> bool:
        """Whether an open request meets it."""
        return (not self.asks or not {*self.asks}.isdisjoint(run.asks)) and self.tells(run)

    def place(self, run: RunSummary) -> Waiting:
        """Return the place of a run in the order."""
        return Waiting(VALUES[self.order](run), run.thread, run.n)


ALL = WaitingFilter()
