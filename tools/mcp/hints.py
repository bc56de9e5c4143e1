"""The effect of an MCP tool, from its hints."""

from collections.abc import Mapping
from typing import Any

from planner_executor.tools.declaration import Effect


def effect_of(hints: Mapping[str, Any]) -> tuple[Effect, bool]:
    """Return the effect, and whether a call may be repeated; without hints external and not repeatable.

    `destructiveHint` is about the extent of a write, not its place or its repetition, so it is not used.

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
