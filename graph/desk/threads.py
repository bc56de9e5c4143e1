"""Threads for slow work: a page that takes long must not hold up other pages or streams (decision 103)."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")

AT_A_TIME = 2
"""Threads that compute at a time: with more of them the event loop waits longer for the interpreter's lock."""
_threads = ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="desk")


async def on_thread(work: Callable[[], Result]) -> Result:
    """Run a function on a thread, and return its result."""
    return await asyncio.get_running_loop().run_in_executor(_threads, work)
