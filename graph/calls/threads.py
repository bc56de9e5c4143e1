"""Blocking work on daemon threads: a tool that never returns blocks neither the event loop nor process exit."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from planner_executor.tools.context_value import set_within

Result = TypeVar("Result")


@dataclass
class WaitCount:
    """How many coroutines wait for blocking work now."""

    count: int = 0


_counted: contextvars.ContextVar[WaitCount | None] = contextvars.ContextVar("counted waits", default=None)


@contextmanager
def counting_waits() -> Iterator[WaitCount]:
    """Count the waits for blocking work in the block, and in the tasks that are begun there."""
    counted = WaitCount()
    with set_within(_counted, counted):
        yield counted


async def run_sync(work: Callable[[], Result]) -> Result:
    """Run blocking work on its own thread, in the caller's context, and return its result.

    Cancelling the caller stops waiting; the work itself cannot be stopped.
    """
    outcome: Future[Result] = Future()
    outcome.set_running_or_notify_cancel()  # or a caller that stops waiting would cancel what the thread is to set
    context = contextvars.copy_context()

    def serve() -> None:
        try:
            outcome.set_result(context.run(work))
        # A future refuses a StopIteration, and the other two would end the event loop instead of the call.
        except (SystemExit, StopIteration, KeyboardInterrupt) as error:
            outcome.set_exception(RuntimeError(f"raised {type(error).__name__}: {error}"))
        except BaseException as error:  # noqa: BLE001  (raised in the waiter)
            outcome.set_exception(error)

    counted = _counted.get() or WaitCount()
    counted.count += 1
    try:
        threading.Thread(target=serve, name="sync-tool", daemon=True).start()
        return await asyncio.wrap_future(outcome)
    finally:
        counted.count -= 1
