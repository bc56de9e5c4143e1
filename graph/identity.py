"""Who decides: the user whom the server has authenticated, or the one whom the operating system knows."""

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

UNVERIFIED = "unverified"


def approver() -> str:
    """Return the name of the sender of the decision that the current node carries out.

    `server:` and the identity behind a LangGraph server, `os:` and the login name in a process of the user's own;
    `unverified` where neither is known: a server without authentication says nothing of who is at the other end.
    """
    from langgraph.runtime import get_runtime  # heavy; who looks at records needs none of it

    server = get_runtime().server_info
    if server is not None:
        return _of_server(server.user)
    return local_user()


_acting: ContextVar[str | None] = ContextVar("acting", default=None)


@contextmanager
def acting_as(person: str | None) -> Iterator[None]:
    """Act in the name of a person whom this process has authenticated; None means this process's own user."""
    token = _acting.set(person)
    try:
        yield
    finally:
        _acting.reset(token)


def local_user() -> str:
    """Return who acts here: the person of `acting_as`, else `os:` and the login name of this process's user.

    `unverified` if there is no such user.
    """
    if (person := _acting.get()) is not None:
        return person
    try:
        return f"os:{getpass.getuser()}"
    except (OSError, KeyError, ImportError):  # as in a container whose user has no entry
        return UNVERIFIED


def _of_server(user: Any) -> str:
    identity = getattr(user, "identity", None)
    known = identity and getattr(user, "is_authenticated", False)
    return f"server:{identity}" if known else UNVERIFIED
