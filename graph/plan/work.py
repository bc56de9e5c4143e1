"""A bound on work that words from outside can cause: counted in steps, so that it is the same on every machine.

What is counted is not read off a clock: a plan that is refused here is refused everywhere. One step takes a few
microseconds.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class TooMuchWork(Exception):
    """The bound is reached; whoever set it turns this into a fault."""

    def __init__(self, most: int) -> None:
        super().__init__(f"it takes more work than is allowed ({most} steps); make it simpler or smaller")


class Work:
    """Counts steps down to nothing, and those of the work that it is a part of."""

    def __init__(self, most: int, whole: "Work | None" = None) -> None:
        self.most, self.left, self.whole = most, most, whole

    def spend(self, steps: int) -> None:
        """Count some steps.

        Raises:
            TooMuchWork: There are none left, here or in the whole.
        """
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork(self.most)
        if self.whole is not None:
            self.whole.spend(steps)


_under: ContextVar[Work | None] = ContextVar("work", default=None)


@contextmanager
def at_most(steps: int) -> Iterator[Work]:
    """Bound the work that is done in this block; a block inside it has what is left here at most."""
    work = Work(steps, _under.get())
    token = _under.set(work)
    try:
        yield work
    finally:
        _under.reset(token)


def spend(steps: int) -> None:
    """Count steps of the work under way; without a bound around it nothing is counted.

    Raises:
        TooMuchWork: The bound is reached.
    """
    if (work := _under.get()) is not None:
        work.spend(steps)


def spend_size(value: Any) -> None:
    """Count the parts of a value, each as often as its JSON text would hold it.

    Raises:
        TooMuchWork: The bound is reached; a value that holds one list many times over is left at that.
    """
    stack = [value]
    while stack:
        part = stack.pop()
        spend(1 + (len(part) >> 6 if isinstance(part, str) else 0))
        if isinstance(part, dict):
            spend(len(part))
            stack += part.values()
        elif isinstance(part, list | tuple):
            spend(len(part))
            stack += part
