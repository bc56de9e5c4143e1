"""The idempotency key of the current call, for tools that pass it on.

A service that supports such keys carries out repeated requests once. The key is equal across attempts and revisions
of a run, so a call that is repeated after a crash has the key of the first.
"""

from contextlib import AbstractContextManager
from contextvars import ContextVar

from planner_executor.tools.context_value import set_within

_key: ContextVar[str | None] = ContextVar("idempotency_key", default=None)


def idempotency_key() -> str:
    """Return the key of the current call: 64 hexadecimal digits.

    Raises:
        LookupError: The tool was called outside of a run.
    """
    key = _key.get()
    if key is None:
        raise LookupError("there is no idempotency key outside of a run's call")
    return key


def with_idempotency_key(key: str) -> AbstractContextManager[None]:
    """Set the key for the tool that is called in the block."""
    return set_within(_key, key)
