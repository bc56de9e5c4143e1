"""An event loop on a daemon thread, for sessions that outlive their callers' loops."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class LoopThread:
    """Runs until `stop`; a process that ends without it is not held up."""

    def __init__(self) -> None:
        begun: concurrent.futures.Future[asyncio.AbstractEventLoop] = concurrent.futures.Future()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(begun),), name="mcp", daemon=True)
        self._thread.start()
        self._loop = begun.result()

    def submit(self, work: Coroutine[Any, Any, Result]) -> "concurrent.futures.Future[Result]":
        """Run a coroutine on the loop; cancelling the returned future cancels it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def stop(self) -> None:
        """Stop the loop and wait for its end."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _serve(self, begun: "concurrent.futures.Future[asyncio.AbstractEventLoop]") -> None:
        begun.set_result(asyncio.get_running_loop())
        await self._stop.wait()
