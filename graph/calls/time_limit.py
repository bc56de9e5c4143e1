"""A time limit on a call: what can be stopped is stopped, and nothing is said to have stopped that has not."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

STOP_S = 2.0
"""How long a call may take to come to its end once it is cancelled."""

MOST_EXTENDED = 10
"""A call that tells of progress may take this many times its limit: a server that never ends cannot hold a run."""


class Deadline:
    """When a call has to end: `limit_s` after it began or last told of progress, and not long after that."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        now = time.monotonic()
        self._at, self._last = now + limit_s, now + limit_s * MOST_EXTENDED
        self._extended = False

    @property
    def left_s(self) -> float:
        """Seconds until then."""
        return self._at - time.monotonic()

    def extend(self) -> None:
        """Give the call its whole limit again; may be called from any thread."""
        self._at, self._extended = min(time.monotonic() + self.limit_s, self._last), True

    @property
    def missed(self) -> str:
        """What is said of a call that has not ended by then."""
        if not self._extended:
            return f"no answer within {self.limit_s} s"
        if self._at < self._last:
            return f"no answer within {self.limit_s} s of its last sign of progress"
        return f"no answer within {self.limit_s * MOST_EXTENDED} s, although it told of progress"


async def within(limit: "Deadline | float", call: Coroutine[Any, Any, Result], stoppable: bool) -> Result:
    """Return what a call returns, or stop it at its deadline.

    Args:
        limit: The deadline, or in how many seconds it is.
        call: What is awaited. What it says last counts, also where it says so after it was cancelled.
        stoppable: Whether the work itself ends when `call` is cancelled; work on a thread does not.

    Raises:
        TimeoutError: There was no answer in time; the text says whether the work may still go on.
    """
    deadline = limit if isinstance(limit, Deadline) else Deadline(limit)
    task = asyncio.create_task(call)
    try:
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
    at_work = "" if stoppable and task.done() else "; it cannot be stopped and may still be at work"
    raise TimeoutError(f"{deadline.missed}{at_work}")


def _heed_nothing(task: "asyncio.Task[Any]") -> None:
    """Take note of what comes of work that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
