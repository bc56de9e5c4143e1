"""The rules on people that those who decided met, tool by tool, as events keep them."""

from collections.abc import Mapping
from typing import Any

from planner_executor.graph.record.events.payload import Json

Met = Mapping[str, tuple[Mapping[str, Any], ...]]
"""Tool -> the rules on people, as JSON, that those who decided met for its calls."""


def met_json(met: Met | None) -> dict[str, Any] | None:
    """Return the rules as the ledger keeps them."""
    return {tool: [dict(rule) for rule in rules] for tool, rules in met.items()} if met is not None else None


def met_in(raw: Json) -> Met | None:
    """Return the rules of a payload, None if it has none."""
    met = raw.get("met")
    return {tool: tuple(rules) for tool, rules in met.items()} if met is not None else None
