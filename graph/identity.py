"""Who decides: the user whom the server has authenticated, or the one whom the operating system knows."""

import getpass
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


def local_user() -> str:
    """Return `os:` and the login name of this process's user, or `unverified` if there is none."""
    try:
        return f"os:{getpass.getuser()}"
    except (OSError, KeyError, ImportError):  # as in a container whose user has no entry
        return UNVERIFIED


def _of_server(user: Any) -> str:
    identity = getattr(user, "identity", None)
    known = identity and getattr(user, "is_authenticated", False)
    return f"server:{identity}" if known else UNVERIFIED
