"""Whether the LangGraph server has rules of its own on who sees which thread."""

import sys
from importlib import import_module
from typing import Any

RESOURCES = ("threads", "*")


def has_thread_rules() -> bool:
    """Whether the `auth` of the server that this code runs in limits threads to some users; False outside of one."""
    if "langgraph_api.config" not in sys.modules:  # it cannot be imported outside of the server
        return False
    custom: Any = import_module("langgraph_api.auth.custom")
    return limits_threads(custom.get_auth_instance())


def limits_threads(auth: Any) -> bool:
    """Whether an `Auth` has handlers for threads; one that is not Python's may have, and counts as such."""
    if auth is None:
        return False
    handled, general = getattr(auth, "_handlers", None), getattr(auth, "_global_handlers", None)
    return handled is None or bool(general) or any(resource in RESOURCES for resource, _ in handled)
