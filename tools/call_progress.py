"""What a tool tells of its current call while it works; each word of it gives the call more time."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass

from planner_executor.tools.context_value import set_within


@dataclass(frozen=True)
class CallProgress:
    """How far a call is: `done` of `total` (None if nobody knows), and words of the tool's own."""

    done: float
    total: float | None = None
    message: str | None = None


ProgressListener = Callable[[CallProgress], None]
"""Told of progress; may be called from any thread."""

_listener: ContextVar[ProgressListener | None] = ContextVar("call_progress", default=None)


def progress_listener() -> ProgressListener | None:
    """Return who is told of the progress of the current call, None if nobody listens."""
    return _listener.get()


def told_of_progress(listener: ProgressListener) -> AbstractContextManager[None]:
    """Set who is told by the tool that is called in the block."""
    return set_within(_listener, listener)
