"""A limit on the work that untrusted input can cause, counted in steps of a few microseconds each.

Steps are counted, not timed, so that a plan refused on one machine is refused on every machine
(docs/decisions/0029-bounded-work.md).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from planner_executor.graph.plan.json_values import parts_of


class WorkLimitExceeded(Exception):
    """The limit is reached; the block that set it turns this into a fault."""

    def __init__(self, most: int) -> None:
        super().__init__(f"takes more than {most} steps of work; make it simpler or smaller")


class WorkMeter:
    """A count of remaining steps; steps are subtracted from the enclosing work too."""

    def __init__(self, most: int, whole: "WorkMeter | None" = None) -> None:
        self.most, self.left, self.whole = most, most, whole

    def spend(self, steps: int) -> None:
        """Subtract some steps.

        Raises:
            WorkLimitExceeded: The limit is reached, here or in the enclosing work.
        """
        self.left -= steps
        if self.left < 0:
            raise WorkLimitExceeded(self.most)
        if self.whole is not None:
            self.whole.spend(steps)


_under: ContextVar[WorkMeter | None] = ContextVar("work", default=None)


@contextmanager
def work_limit(steps: int) -> Iterator[WorkMeter]:
    """Limit the work of this block; a nested block cannot exceed the rest of this one."""
    work = WorkMeter(steps, _under.get())
    token = _under.set(work)
    try:
        yield work
    finally:
        _under.reset(token)


def spend(steps: int) -> None:
    """Count steps in the enclosing `work_limit` block; outside of one, do nothing.

    Raises:
        WorkLimitExceeded: The limit is reached.
    """
    if (work := _under.get()) is not None:
        work.spend(steps)


def spend_size(value: Any) -> None:
    """Count the parts of a value, each as often as it occurs in its JSON text.

    Raises:
        WorkLimitExceeded: The limit is reached, which also ends the walk of a value that repeats one list many times.
    """
    for part in parts_of(value):
        spend(1 + (len(part) >> 6 if isinstance(part, str) else 0))
        if isinstance(part, dict | list | tuple):
            spend(len(part))
