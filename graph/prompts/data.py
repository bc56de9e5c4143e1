"""Tools and results in prompts: compact, bounded, and as JSON, so that no text in them can pass for instructions."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.policy import NO_POLICY, Policy, ToolRule

DESCRIPTION_CHARACTERS = 400
PREVIEW_CHARACTERS = 600
RESULT_CHARACTERS = 20_000
"""Number of characters of a result in the prompt of a dependent step."""


def tools_shown(tools: Iterable[ToolSpec], policy: Policy = NO_POLICY) -> list[dict[str, Any]]:
    """Return each tool that is not denied, with its effect, its arguments, and the policy's constraints on them.

    An argument without `optional` is required.
    """
    return [_tool(tool, policy.tools.get(tool.name)) for tool in tools if policy.verdict(tool) != "deny"]


def cut(text: str, most: int) -> str:
    """Return the text, shortened to at most `most` characters.

    >>> cut("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def result_shown(text: str) -> str:
    """Return a result, or its beginning and the number of omitted characters.

    >>> result_shown("a" * 20_010)[-40:]
    'aaaa… (10 more characters are not shown)'
    """
    more = len(text) - RESULT_CHARACTERS
    return text if more <= 0 else f"{text[:RESULT_CHARACTERS]}… ({more} more characters are not shown)"


def as_json(document: Mapping[str, Any]) -> str:
    """Return a document as the text of a message, without empty entries."""
    return shown_text({key: value for key, value in document.items() if value not in (None, [], {}, "")})


def shown_text(value: Any) -> str:
    """Return a value in the JSON notation of messages."""
    return json.dumps(value, ensure_ascii=False)


def _tool(tool: ToolSpec, rule: ToolRule | None) -> dict[str, Any]:
    shown = {
        "name": tool.name,
        "does": cut(tool.description, DESCRIPTION_CHARACTERS),
        "effect": tool.effect,
        "args": {name: _argument(name, tool) for name in tool.parameters},
    }
    bounds = {name: constraint.to_json() for name, constraint in rule.args.items()} if rule else {}
    return {**shown, "allowed": bounds} if bounds else shown


def _argument(name: str, tool: ToolSpec) -> dict[str, Any]:
    schema = tool.schema.get("properties", {}).get(name, {})
    kept = {key: schema[key] for key in ("type", "enum", "description", "default", "items", "anyOf") if key in schema}
    return kept if name in tool.schema.get("required", ()) else {**kept, "optional": True}
