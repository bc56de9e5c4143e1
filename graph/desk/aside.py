"""Work aside from the event loop: what takes long in one page must not hold up the others, nor their streams."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")

AT_A_TIME = 2
"""Threads that compute at a time: with more of them the event loop waits longer for its turn of the interpreter."""
_threads = ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="desk")


async def aside(work: Callable[[], Result]) -> Result:
    """Return the result of a function that runs on a thread."""
    return await asyncio.get_running_loop().run_in_executor(_threads, work)
