"""The time limit of a step over all its turns."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from planner_executor.graph.chat_models.retry import Clock

Result = TypeVar("Result")
LATE = "the step did not end within"
"""How the error of a step begins that was cut off."""


class StepTimedOut(Exception):
    """The turns of a step did not end in time; a call that was cut off is uncertain if it may not be repeated."""


@dataclass(frozen=True)
class StepLimit:
    """The time limit of a step that a model does; `ends_at` is a time of the event loop, None for no limit."""

    step: str
    clock: Clock
    limit_s: float | None
    ends_at: float | None

    @classmethod
    def starting(cls, step: str, clock: Clock, limit_s: float | None) -> "StepLimit":
        """Return the limit of a step that begins now."""
        return cls(step, clock, limit_s, None if limit_s is None else asyncio.get_running_loop().time() + limit_s)

    async def within(self, turns: Coroutine[Any, Any, Result]) -> Result:
        """Return the result of the turns.

        Raises:
            StepTimedOut: They did not end in time.
        """
        if self.ends_at is None:
            return await turns
        try:
            # The clock ends it and not the loop: a replay knows from the record which step was cut off.
            async with asyncio.timeout(None) as limit:
                watch = asyncio.create_task(self._watch(limit, self.ends_at))
                try:
                    return await turns
                finally:
                    watch.cancel()
        except TimeoutError:
            # Some tools raise `TimeoutError` themselves: that is not the end of this limit.
            if not limit.expired():
                raise
            raise StepTimedOut(f"{LATE} {self.limit_s} s") from None

    async def _watch(self, limit: asyncio.Timeout, ends_at: float) -> None:
        loop = asyncio.get_running_loop()
        await self.clock.step_over(self.step, max(ends_at - loop.time(), 0.0))
        limit.reschedule(loop.time())
