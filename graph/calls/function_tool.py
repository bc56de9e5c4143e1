"""Function tools that can be called directly, because LangChain's invocation would only add time.

LangChain's invocation validates the arguments, notifies callback handlers, and injects arguments that callers do not
give. For the injection it inspects the function's signature several times per call.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, JsonValue

NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
TAKEN = {"config", "run_manager", "callbacks", "self", "args", "kwargs"}
"""Argument names with a special meaning in LangChain's invocation."""


def is_straight(tool: BaseTool, function: Callable[..., Any] | None, offered: tuple[str, ...]) -> bool:
    """Whether `function` takes only the arguments offered to callers, and its return value is the result."""
    # By the type itself: a class of a user's own may do anything in its invocation.
    if type(tool) is not StructuredTool or tool.response_format != "content" or function is None:
        return False
    schema = tool.args_schema
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)) or schema.model_config.get("extra") == "allow":
        return False
    try:
        parameters = inspect.signature(function).parameters
    except (ValueError, TypeError):
        return False
    fields = schema.model_fields
    shown = not any(field.exclude for field in fields.values()) and not schema.model_computed_fields
    # What callers cannot give LangChain would inject, so a function that takes any of it is left to it.
    named = all(parameter.kind in NAMED for parameter in parameters.values())
    return shown and named and set(parameters) == set(fields) == set(offered) and not TAKEN & set(fields)


def is_watched(tool: BaseTool, config: RunnableConfig) -> bool:
    """Whether a handler observes calls: a tracer, a debugger, a callback of the tool or the graph."""
    return bool(AsyncCallbackManager.configure(config.get("callbacks"), tool.callbacks, tool.verbose).handlers)


def parsed(schema: Any, args: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Return arguments converted to the types of the function's signature, with defaults filled in.

    Raises:
        ValidationError: The arguments do not fit the schema.
    """
    model = schema.model_validate(dict(args))
    return {name: getattr(model, name) for name in schema.model_fields}
