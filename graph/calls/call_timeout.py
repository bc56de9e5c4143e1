"""A time limit on a call; the error states whether the work was stopped or may still be running."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

STOP_S = 2.0
"""Seconds that a cancelled call may take to end."""

MOST_EXTENDED = 10
"""Progress extends a call to at most this many times its limit, so that a server cannot hold a run forever."""


class StillAtWork(TimeoutError):
    """A call missed its deadline and could not be stopped: it may still have its effect."""


class CallDeadline:
    """Deadline of a call: `limit_s` after its start or its last progress, up to `MOST_EXTENDED` times the limit."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        now = time.monotonic()
        self._at, self._last = now + limit_s, now + limit_s * MOST_EXTENDED
        self._extended = False

    @property
    def left_s(self) -> float:
        """Seconds until the deadline."""
        return self._at - time.monotonic()

    def extend(self) -> None:
        """Restart the limit; may be called from any thread."""
        self._at, self._extended = min(time.monotonic() + self.limit_s, self._last), True

    @property
    def missed(self) -> str:
        """Error text of a call that missed the deadline."""
        if not self._extended:
            return f"no answer within {self.limit_s} s"
        if self._at < self._last:
            return f"no answer within {self.limit_s} s of its last sign of progress"
        return f"no answer within {self.limit_s * MOST_EXTENDED} s, although it told of progress"


async def within(limit: "CallDeadline | float", call: Coroutine[Any, Any, Result], stoppable: bool) -> Result:
    """Return the result of a call, or stop the call at its deadline.

    Args:
        limit: The deadline, or the seconds until then.
        call: The coroutine to await. Its result counts even if it returns after it was cancelled.
        stoppable: Whether the work itself ends when `call` is cancelled; work on a thread does not.

    Raises:
        TimeoutError: The call missed its deadline.
        StillAtWork: It did, and the work may still be running.
    """
    deadline = limit if isinstance(limit, CallDeadline) else CallDeadline(limit)
    task = asyncio.create_task(call)
    try:
        # Progress moves the deadline meanwhile. `wait_for` would wait for a cancelled call without any limit.
        while not task.done() and (left_s := deadline.left_s) > 0:
            await asyncio.wait({task}, timeout=left_s)
    finally:
        if late := not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=STOP_S)
    if not task.done():
        task.add_done_callback(_heed_nothing)
    elif not (late and task.cancelled()):
        return task.result()
    if stoppable and task.done():
        raise TimeoutError(deadline.missed)
    raise StillAtWork(f"{deadline.missed}; it cannot be stopped and may still be at work")


def _heed_nothing(task: "asyncio.Task[Any]") -> None:
    """Retrieve the outcome of an abandoned task, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()
