"""Blocking work on daemon threads: a tool that never returns can neither stop the event loop nor the process's end."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result]) -> Result:
    """Run blocking work on a thread of its own, in the caller's context, and return what it returns.

    Cancelling the caller stops waiting; the work itself cannot be stopped.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()
    context = contextvars.copy_context()

    def report(tell: Callable[[], None]) -> None:
        try:
            loop.call_soon_threadsafe(lambda: None if future.done() else tell())
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    def serve() -> None:
        try:
            result = context.run(work)
        except (SystemExit, StopIteration, KeyboardInterrupt) as error:
            failure = RuntimeError(f"raised {type(error).__name__}: {error}")
            report(partial(future.set_exception, failure))
        except BaseException as error:  # noqa: BLE001  (handed to the one who waits)
            report(partial(future.set_exception, error))
        else:
            report(partial(future.set_result, result))

    threading.Thread(target=serve, name="sync-tool", daemon=True).start()
    return await future
