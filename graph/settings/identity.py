"""Who acts: the user whom the server has authenticated, whom an adapter or the system knows, or whom the code names."""

import getpass
from collections.abc import Callable, Sequence
from typing import Any

from planner_executor.graph.errors import ConfigError, InputError
from planner_executor.graph.record.person import NOBODY, Approver, Person

UNVERIFIED = str(NOBODY)
Adapter = Callable[[Person | None], Person | None]
"""Returns the verified person for the one whom calling code names, None if it cannot verify anybody.

The person named is None if the code names nobody; the adapter may know one from elsewhere, such as a context variable
of the web framework. It must not block: it is called on the event loop.
"""


def acting(adapter: Adapter | None = None) -> Approver:
    """Return the sender of what the current node carries out.

    `server:` and the identity behind a LangGraph server, `os:` and the login name in a process of the user's own;
    `unverified` if neither is known: a server without authentication does not identify its clients.
    """
    from langgraph.config import get_config  # heavy; who looks at records needs none of it
    from langgraph.runtime import get_runtime

    try:
        get_config()
    except RuntimeError:  # not in a node
        return named(None, adapter)
    # On a server, its own user counts alone: code that names others would speak for clients.
    server = get_runtime().server_info
    return named(None, adapter) if server is None else _of_server(server.user)


def named(by: Person | None, adapter: Adapter | None = None) -> Approver:
    """Return the person whom calling code names: verified by the adapter, or else claimed; without one, the local user.

    Raises:
        InputError: `by` is no `Person`.
        ConfigError: The adapter returned something else than a `Person` or None.
    """
    if by is not None and not isinstance(by, Person):
        raise InputError("by", f"{type(by).__name__} is no graph.Person; give Person(name, roles=[...])")
    if adapter is not None and (found := adapter(by)) is not None:
        if not isinstance(found, Person):
            given = type(found).__name__
            raise ConfigError(f"the identity adapter returned a {given}; it returns a graph.Person or None, not async")
        return Approver.of(found, "server")
    return Approver.of(by, "claimed") if by is not None else local_user()


def local_user() -> Approver:
    """Return the user of this process, or nobody if the system knows none."""
    try:
        return Approver(getpass.getuser(), "os")
    except (OSError, KeyError, ImportError):  # as in a container whose user has no entry
        return NOBODY


def _of_server(user: Any) -> Approver:
    identity = getattr(user, "identity", None)
    known = identity and getattr(user, "is_authenticated", False)
    return Approver(str(identity), "server", server_roles(user)) if known else NOBODY


def server_roles(user: Any) -> tuple[str, ...]:
    """Return the roles of a server's user: what its authentication gave as `roles`, or else as `permissions`."""
    given = getattr(user, "roles", None)
    found = given if given is not None else getattr(user, "permissions", ())
    is_list = isinstance(found, Sequence) and not isinstance(found, str)
    return tuple(one for one in found if isinstance(one, str)) if is_list else ()
