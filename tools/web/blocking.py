"""A coroutine function for callers that cannot await."""

from collections.abc import Awaitable, Callable
from functools import partial, wraps
from typing import ParamSpec, TypeVar

from anyio.from_thread import start_blocking_portal

P = ParamSpec("P")
Result = TypeVar("Result")


def blocking(work: Callable[P, Awaitable[Result]]) -> Callable[P, Result]:
    """Return a function that runs the coroutine on an event loop of its own, even inside a running one."""

    @wraps(work)
    def call(*args: P.args, **named: P.kwargs) -> Result:
        with start_blocking_portal() as portal:
            return portal.call(partial(work, *args, **named))

    return call
