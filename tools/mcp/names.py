"""Unique names for the tools of several servers, in characters that every model provider accepts."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

MAX_CHARACTERS = 64
OTHERS = re.compile(r"[^A-Za-z0-9_-]")


def plan_names(tools: Mapping[str, Sequence[str]], taken: Collection[str] = ()) -> dict[tuple[str, str], str]:
    """Return (server, tool) -> name; if a name is not unique, its server's name is put in front.

    A tool whose name is taken even so is left out; the first of two stays.

    Args:
        tools: Server -> its own names for its tools.
        taken: Names of tools that do not come from a server.

    >>> plan_names({"a": ["read", "move"], "b": ["read"]}, taken=["move"])
    {('a', 'read'): 'a_read', ('a', 'move'): 'a_move', ('b', 'read'): 'b_read'}
    """
    wanted = Counter(_plain(tool) for own in tools.values() for tool in own)
    named: dict[tuple[str, str], str] = {}
    used = set(taken)
    for server, own in tools.items():
        for tool in own:
            plain, prefixed = _plain(tool), _plain(f"{server}_{tool}")
            is_clear = wanted[plain] == 1 and plain not in taken
            for name in (plain, prefixed) if is_clear else (prefixed,):
                if name not in used:
                    used.add(name)
                    named[server, tool] = name
                    break
    return named


def _plain(name: str) -> str:
    return OTHERS.sub("_", name)[:MAX_CHARACTERS]
