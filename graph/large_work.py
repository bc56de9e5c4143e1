"""Work that grows with a plan, kept off an event loop that others share (decision 152)."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import TypeVar

from planner_executor.tools.context_value import set_within

Result = TypeVar("Result")

LARGE = 250
"""Steps, events or rows, above which a thread is worth its start: what is done with so many takes some 10 ms."""

_in_place: ContextVar[bool] = ContextVar("large work in place", default=False)


def in_place() -> AbstractContextManager[None]:
    """Do large work of the block where it is called: a replay must come out the same in every order of threads."""
    return set_within(_in_place, True)


async def done_aside(size: int, work: Callable[[], Result]) -> Result:
    """Return what a function returns that reads and writes nothing else; with a large size it works on a thread.

    Cancelling the caller stops waiting; the work goes on to its end, which nobody sees.
    """
    return work() if size <= LARGE or _in_place.get() else await asyncio.to_thread(work)


async def let_others(done: int) -> None:
    """Let an event loop's other tasks go on after so many pieces of work that wait for nothing themselves."""
    if done % LARGE == 0 and not _in_place.get():
        await asyncio.sleep(0)
