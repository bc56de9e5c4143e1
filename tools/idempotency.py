"""The idempotency key of the call that is being made, for tools that pass it on.

A service that takes such a key does a thing once, however often it is asked. The key is equal across attempts and
revisions of a run, so a call that is made again after a crash carries the key of the first.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_key: ContextVar[str | None] = ContextVar("idempotency_key", default=None)


def idempotency_key() -> str:
    """Return the key of the current call: 64 hexadecimal digits.

    Raises:
        LookupError: No call is being made here: the tool was called outside of a run.
    """
    key = _key.get()
    if key is None:
        raise LookupError("there is no idempotency key outside of a run's call")
    return key


@contextmanager
def calling(key: str) -> Iterator[None]:
    """Offer the key to the tool that is called within."""
    token = _key.set(key)
    try:
        yield
    finally:
        _key.reset(token)
