"""Blocking work on daemon threads: a tool that never returns blocks neither the event loop nor process exit."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

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
    token = _counted.set(counted)
    try:
        yield counted
    finally:
        _counted.reset(token)


async def run_sync(work: Callable[[], Result]) -> Result:
    """Run blocking work on its own thread, in the caller's context, and return its result.

    Cancelling the caller stops waiting; the work itself cannot be stopped.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()
    context = contextvars.copy_context()

    def report(tell: Callable[[], None]) -> None:
        try:
            loop.call_soon_threadsafe(lambda: None if future.done() else tell())
        except RuntimeError:
            return  # the loop is closed, so there is no waiter

    def serve() -> None:
        try:
            result = context.run(work)
        # A future refuses a StopIteration, and the other two would end the event loop instead of the call.
        except (SystemExit, StopIteration, KeyboardInterrupt) as error:
            report(partial(future.set_exception, RuntimeError(f"raised {type(error).__name__}: {error}")))
        except BaseException as error:  # noqa: BLE001  (raised in the waiter)
            report(partial(future.set_exception, error))
        else:
            report(partial(future.set_result, result))

    counted = _counted.get() or WaitCount()
    counted.count += 1
    try:
        threading.Thread(target=serve, name="sync-tool", daemon=True).start()
        return await future
    finally:
        counted.count -= 1
