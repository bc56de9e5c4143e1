"""The form that Studio draws for a graph: each setting with the value in force and the choices that there are."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema

from planner_executor.graph.chat_models.roles import RoleModels
from planner_executor.graph.chat_models.settings import ROLES, Role
from planner_executor.graph.client_context import FIXED, LIMITS, Context, in_force
from planner_executor.graph.settings.settings import Settings

JSON_TYPE: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    dict: "object",
    type(None): "null",
}


def context_schema(settings: Settings, models: RoleModels) -> type[Context]:
    """Return the context of one graph: it takes the same values, and its JSON Schema has the values in force.

    The values are in the schema alone: a setting that a client leaves out stays unset.
    """
    forms: dict[str, dict[str, Any]] = {
        **{role: _model(role, models) for role in ROLES},
        **{name: _limit(least, getattr(settings, name)) for name, least in LIMITS.items()},
        **{name: _fixed(in_force(settings, name)) for name in FIXED},
    }
    if said := {role: told for role in ROLES if (told := _settings(role, models))}:
        forms["model_settings"] = {"default": said}

    return _context_with(json.dumps(forms))


@lru_cache(maxsize=32)
def _context_with(forms: str) -> type[Context]:
    """Return the context class with these forms; making one takes longer than the rest of a graph's settings."""
    told: dict[str, dict[str, Any]] = json.loads(forms)

    class InForce(Context):
        __doc__ = Context.__doc__

        @classmethod
        def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
            schema = handler.resolve_ref_schema(handler(core))
            for name, form in told.items():
                given = schema["properties"][name]
                # A form with a type of its own takes the place of what the property said of its type.
                kept = {key: given[key] for key in KEPT if key in given} if "type" in form else given
                schema["properties"][name] = {**kept, **form}
            return schema

    InForce.__name__ = InForce.__qualname__ = Context.__name__
    return InForce


KEPT = ("title", "description", "langgraph_nodes")
"""What a form keeps of a property; its type and default are those of the graph."""


def _model(role: Role, models: RoleModels) -> dict[str, Any]:
    """Return a text field, or a choice if the operator does not offer any model that there is."""
    offered, own = models.offered(role), models.shown(role).get("model")
    choice = {} if "*" in offered else {"enum": list(offered)}
    return {"type": "string", **choice, **({"default": own} if own else {})}


def _settings(role: Role, models: RoleModels) -> dict[str, Any]:
    return {name: value for name, value in models.shown(role).items() if name != "model"}


def _limit(least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, "default": most}


def _fixed(value: Any) -> dict[str, Any]:
    return {"type": JSON_TYPE[type(value)], "enum": [value], "default": value, "readOnly": True}
