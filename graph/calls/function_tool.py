"""Function tools that can be called straight: where LangChain's way to the function would add nothing but time.

On that way LangChain checks the arguments, tells handlers of the call, and gives the function what is not the caller's
to give. For the last it reads the function's signature several times, at each call anew.
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
"""Argument names that mean something of their own on LangChain's way."""


def is_straight(tool: BaseTool, function: Callable[..., Any] | None, offered: tuple[str, ...]) -> bool:
    """Whether all that `function` takes are the arguments offered to callers, and what it returns is the result."""
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
    named = all(parameter.kind in NAMED for parameter in parameters.values())
    return shown and named and set(parameters) == set(fields) == set(offered) and not TAKEN & set(fields)


def is_watched(tool: BaseTool, config: RunnableConfig) -> bool:
    """Whether some handler is to be told of calls: a trace, a debugger, a callback of the tool or the graph."""
    return bool(AsyncCallbackManager.configure(config.get("callbacks"), tool.callbacks, tool.verbose).handlers)


def parsed(schema: Any, args: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Return arguments as the types that the function asks for, with defaults filled in.

    Raises:
        ValidationError: They do not fit.
    """
    model = schema.model_validate(dict(args))
    return {name: getattr(model, name) for name in schema.model_fields}
