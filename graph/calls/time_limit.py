"""A time limit on a call: what can be stopped is stopped, and nothing is said to have stopped that has not."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

STOP_S = 2.0
"""How long a call may take to come to its end once it is cancelled."""


async def within(limit_s: float, call: Coroutine[Any, Any, Result], stoppable: bool) -> Result:
    """Return what a call returns, or stop it after `limit_s` seconds.

    Args:
        limit_s: The limit.
        call: What is awaited. What it says last counts, also where it says so after it was cancelled.
        stoppable: Whether the work itself ends when `call` is cancelled; work on a thread does not.

    Raises:
        TimeoutError: There was no answer in time; the text says whether the work may still go on.
    """
    task = asyncio.create_task(call)
    try:
        await asyncio.wait({task}, timeout=limit_s)
    finally:
        if late := not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=STOP_S)
    if not task.done():
        task.add_done_callback(_heed_nothing)
    elif not (late and task.cancelled()):
        return task.result()
    at_work = "" if stoppable and task.done() else "; it cannot be stopped and may still be at work"
    raise TimeoutError(f"no answer within {limit_s} s{at_work}")


def _heed_nothing(task: "asyncio.Task[Any]") -> None:
    """Take note of what comes of work that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
