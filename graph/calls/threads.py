"""Blocking work on daemon threads: a tool that never returns blocks neither the event loop nor process exit."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

Result = TypeVar("Result")
_waits: dict[int, int] = {}
"""Id of an event loop -> number of its waits for blocking work; idle loops have no entry."""


def is_waiting() -> bool:
    """Whether a coroutine on the running event loop waits for blocking work."""
    return id(asyncio.get_running_loop()) in _waits


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
        except (SystemExit, StopIteration, KeyboardInterrupt) as error:
            failure = RuntimeError(f"raised {type(error).__name__}: {error}")
            report(partial(future.set_exception, failure))
        except BaseException as error:  # noqa: BLE001  (raised in the waiter)
            report(partial(future.set_exception, error))
        else:
            report(partial(future.set_result, result))

    with _counted(id(loop)):
        threading.Thread(target=serve, name="sync-tool", daemon=True).start()
        return await future


@contextmanager
def _counted(loop: int) -> Iterator[None]:
    _waits[loop] = _waits.get(loop, 0) + 1
    try:
        yield
    finally:
        left = _waits.pop(loop) - 1
        if left:
            _waits[loop] = left
