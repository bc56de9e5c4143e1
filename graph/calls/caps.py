"""What the calls of one run take of the caps across runs, and the wait for a turn under a rate."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from planner_executor.graph.calls.meter import Reservation
from planner_executor.graph.calls.rate_limit import SHORT_WAIT_S
from planner_executor.graph.calls.tool_call import Admitted, Finished
from planner_executor.graph.chat_models.retry import Clock
from planner_executor.graph.errors import CapReachedError
from planner_executor.graph.policy.day_limits import rate_cap
from planner_executor.graph.policy.policy import NO_POLICY, Policy
from planner_executor.graph.record.caps import CapCorrection, CapEntry, CapUse
from planner_executor.graph.record.events import CapReached, Draft, ModelFinished
from planner_executor.graph.record.person import Approver

Written = TypeVar("Written")

UNVERIFIED = "unverified"
"""The one user that all count as whom only calling code names, or nobody: a made-up name gives nobody more."""


def user_of(label: str) -> str:
    """Return the name by which caps know the user with this label in the record.

    >>> user_of("server:Ada@example.org"), user_of("claimed:ada@example.org"), user_of("unverified")
    ('person:ada@example.org', 'unverified', 'unverified')
    """
    who = Approver.of_label(label)
    return f"person:{who.person}" if who.is_known else UNVERIFIED


@dataclass(frozen=True)
class Caps:
    """The caps of a policy for the calls of one run; `user` is who started it. Calls without a cap take nothing."""

    policy: Policy
    user: str

    @cached_property
    def is_set(self) -> bool:
        """Whether there is any cap, so that calls under a policy without one cost nothing here."""
        return self.policy.per_day.is_set or bool(self.policy.rates)

    def of_tool(self, tool: str, key: str) -> CapUse | None:
        """Return what a call of a tool takes, None if nothing is capped."""
        return self._use(key, tool, {"tool_calls": 1, f"calls.{tool}": 1}) if self.is_set else None

    def of_model(self, model: str, key: str, aside: Reservation) -> CapUse | None:
        """Return what a call of a model takes until its usage is known, None if nothing is capped."""
        if not self.is_set:
            return None
        return self._use(key, model, {"model_calls": 1, "tokens": aside.tokens, "cost_usd": aside.cost_usd})

    def after_call(self, finished: Finished) -> list[CapCorrection]:
        """Return what a call gives back: all that it took if nothing happened."""
        call = finished.call
        took = finished.nothing_happened and self.of_tool(call.tool, call.key) is not None
        return [nothing_happened(call.key, call.tool)] if took else []

    def after_model(self, use: CapUse | None, aside: Reservation, finished: ModelFinished) -> list[CapCorrection]:
        """Return the difference of a model call's usage to what was reserved; an unknown usage counts as reserved."""
        if use is None or finished.usage is None:
            return []
        cost_usd = aside.cost_usd if finished.cost_usd is None else finished.cost_usd
        more = {"tokens": finished.usage.total_tokens - aside.tokens, "cost_usd": cost_usd - aside.cost_usd}
        return [CapCorrection(use.call, more)]

    def _use(self, key: str, name: str, amounts: Mapping[str, float]) -> CapUse | None:
        taken, rate = self.policy.per_day.caps(amounts, self.user), self.policy.rates.get(name)
        return CapUse(key, taken, () if rate is None else (rate_cap(name, rate),)) if taken or rate else None


NO_CAPS = Caps(NO_POLICY, UNVERIFIED)


def nothing_happened(key: str, tool: str) -> CapCorrection:
    """Return the correction of a call that did not happen."""
    return CapCorrection(key, {"tool_calls": -1, f"calls.{tool}": -1})


def entries(admitted: Sequence[Admitted]) -> list[CapEntry]:
    """Return what calls take of the caps."""
    return [one.caps for one in admitted if one.caps is not None]


async def in_turn(write: Callable[[], Awaitable[Written]], clock: Clock) -> Written:
    """Write the intent of a call, again after a wait if its turn under a rate is soon.

    Raises:
        CapReachedError: A cap allows the call only later.
    """
    while True:
        try:
            return await write()
        except CapReachedError as reached:
            # No process waits for the end of a day: the run pauses, and a worker takes it up then.
            if not reached.is_rate or reached.wait_s > SHORT_WAIT_S:
                raise
            await clock.sleep(reached.wait_s)


def cap_reached(reached: CapReachedError, step: str | None, now: float) -> Draft:
    """Return the event of a cap that did not allow a call."""
    return Draft(CapReached(cap=reached.cap, allows=reached.words, due_at=now + reached.wait_s), step)
