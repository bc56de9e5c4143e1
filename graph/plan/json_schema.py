"""The plan format as a JSON Schema, for model servers that enforce an output schema; validation does not rely on it."""

from functools import lru_cache
from typing import Any

from planner_executor.graph.plan.normalization import CANNOT
from planner_executor.graph.plan.schema import Plan

MAX_NAMES = 200
"""With more tools than this, their names are left out of the schema: servers limit its size."""


@lru_cache(maxsize=32)
def plan_schema(tools: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of a plan that may use these tools."""
    schema: dict[str, Any] = _compact(Plan.model_json_schema())
    step = schema["$defs"]["Step"]["properties"]
    del step["parent"]  # set by the expansion of a `refine` step, never by a model
    if 0 < len(tools) <= MAX_NAMES:
        step["tool"]["enum"] = list(tools)
        step["tools"]["items"]["enum"] = step["required_tools"]["items"]["enum"] = list(tools)
    schema["properties"][CANNOT] = {"type": "string"}
    return {"title": "plan", "description": "A plan to review.", **schema, "required": ["steps"]}


@lru_cache(maxsize=32)
def revision_schema(tools: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of a revision that may use these tools."""
    plan = plan_schema(tools)
    keep = {"type": "array", "items": {"type": "string"}}
    described = {"title": "revision", "description": "A revision of what is left of a plan."}
    return {**plan, **described, "properties": {"keep": keep, **plan["properties"]}}


def _compact(node: Any) -> Any:
    """Return a schema without titles, descriptions and defaults, and without null, which means an absent key."""
    if isinstance(node, list):
        return [_compact(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {name: value for name, value in node.items() if not _is_note(name, value)}
    options = [option for option in kept.get("anyOf", ()) if option != {"type": "null"}]
    if options:
        del kept["anyOf"]
        kept |= options[0] if len(options) == 1 else {"anyOf": options}
    return {name: _compact(value) for name, value in kept.items()}


def _is_note(name: str, value: Any) -> bool:
    return name == "default" or (name in ("title", "description") and isinstance(value, str))
