"""What the hints of an MCP tool say of its effect."""

from collections.abc import Mapping
from typing import Any

from tools.declaration import Effect


def effect_of(hints: Mapping[str, Any]) -> tuple[Effect, bool]:
    """Return the effect that hints speak for, and whether a call may be repeated; without hints external and not.

    `destructiveHint` tells how much a write changes, not where or how often it may happen, so it decides nothing.

    Source: Model Context Protocol, schema of 2026-07-28, `ToolAnnotations`.

    >>> effect_of({"readOnlyHint": True, "openWorldHint": False})
    ('read', True)
    >>> effect_of({"readOnlyHint": False, "idempotentHint": True})
    ('external', True)
    """
    reads = hints.get("readOnlyHint") is True
    repeatable = reads or hints.get("idempotentHint") is True
    if hints.get("openWorldHint") is not False:
        return "external", repeatable
    return ("read" if reads else "write"), repeatable
