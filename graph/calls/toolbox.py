"""LangChain tools as plans see them, and how one is called."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, get_args

from langchain_core.messages import ToolMessage
from langchain_core.runnables import ensure_config
from langchain_core.tools import BaseTool, StructuredTool, Tool
from langchain_core.tools import tool as as_tool
from pydantic import JsonValue
from pydantic.errors import PydanticInvalidForJsonSchema

from graph.calls.threads import in_thread
from graph.errors import ToolConfigError
from graph.plan.catalog import Effect, ToolSpec

SWALLOWED = {"config", "run_manager", "callbacks", "self"}
"""Argument names that LangChain takes for itself when it calls a function tool."""


@dataclass(frozen=True)
class BoundTool:
    """A tool, what plans may know of it, and whether it can be awaited."""

    spec: ToolSpec
    tool: BaseTool
    awaitable: bool

    async def call(self, args: Mapping[str, JsonValue]) -> Any:
        """Call the tool with exactly these arguments and return what it returns."""
        function = getattr(self.tool, "coroutine" if self.awaitable else "func", None)
        if function is not None and SWALLOWED & set(args):
            work: Callable[[], Any] = partial(function, **args)
            returned = await (work() if self.awaitable else in_thread(work))
            return returned[0] if self.tool.response_format == "content_and_artifact" else returned
        config = ensure_config()
        traced: dict[str, Any] = {"callbacks": config.get("callbacks"), "config": config}
        if self.awaitable:
            output = await self.tool.arun(dict(args), **traced)
        else:
            output = await in_thread(partial(self.tool.run, dict(args), **traced))
        return output.content if isinstance(output, ToolMessage) else output


class Toolbox(Mapping[str, BoundTool]):
    """The tools of a graph by name."""

    def __init__(self, tools: Iterable[BaseTool | Callable[..., Any]]) -> None:
        self._tools: dict[str, BoundTool] = {}
        for given in tools:
            bound = bind(given)
            if bound.spec.name in self._tools:
                raise ToolConfigError(bound.spec.name, "two tools have this name; rename one")
            self._tools[bound.spec.name] = bound
        self.specs: Mapping[str, ToolSpec] = {name: bound.spec for name, bound in self._tools.items()}

    def __getitem__(self, name: str) -> BoundTool:
        return self._tools[name]

    def __iter__(self) -> Any:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)


def bind(given: BaseTool | Callable[..., Any]) -> BoundTool:
    """Return a tool, or a plain function with a docstring, as a bound tool.

    Raises:
        ToolConfigError: It has no description, declares an unknown effect, or has a broken schema.
    """
    tool = given if isinstance(given, BaseTool) else _from_function(given)
    if tool.handle_tool_error or tool.handle_validation_error:
        # Either would turn a failure into text that looks like a result.
        tool = tool.model_copy(update={"handle_tool_error": False, "handle_validation_error": False})
    spec = spec_of(tool)
    if fault := spec.schema_fault():
        raise ToolConfigError(tool.name, f"its arguments have no valid JSON Schema: {fault}")
    return BoundTool(spec, tool, _is_awaitable(tool))


def spec_of(tool: BaseTool) -> ToolSpec:
    """Return what plans may know of a tool; what it does to the world is read from its `metadata`."""
    metadata = dict(tool.metadata or {})
    effect, idempotent = _effect(tool.name, metadata)
    return ToolSpec(
        name=tool.name,
        description=tool.description,
        schema=_schema(tool),
        effect=effect,
        idempotent=idempotent,
        timeout_s=_timeout_s(tool.name, metadata),
        trusted=metadata.get("trusted") is True,
        free_args=tuple(metadata.get("free_args", ())),
    )


def _schema(tool: BaseTool) -> dict[str, Any]:
    """Return the JSON Schema of the arguments a caller gives; LangChain's own forgets that extras are allowed."""
    if isinstance(tool, Tool) and tool.args_schema is None:
        return {"type": "object", "properties": tool.args, "required": list(tool.args)}
    schema: Any = tool.tool_call_schema
    if isinstance(schema, dict):
        return schema
    try:
        described: dict[str, Any] = schema.model_json_schema()
    except PydanticInvalidForJsonSchema as error:
        raise ToolConfigError(tool.name, f"an argument is nothing that JSON can carry: {error.message}") from error
    config = getattr(tool.args_schema, "model_config", {})
    return {**described, "additionalProperties": True} if config.get("extra") == "allow" else described


def _timeout_s(name: str, metadata: Mapping[str, Any]) -> float | None:
    given = metadata.get("timeout_s")
    if given is None or (isinstance(given, int | float) and not isinstance(given, bool) and given > 0):
        return given
    raise ToolConfigError(name, f"timeout_s {given!r} is no number of seconds above 0")


def _effect(name: str, metadata: Mapping[str, Any]) -> tuple[Effect, bool]:
    declared = metadata.get("effect")
    if declared is not None:
        if declared not in get_args(Effect):
            raise ToolConfigError(name, f"effect {declared!r} is none of {', '.join(get_args(Effect))}")
        return declared, metadata.get("idempotent") is True
    return _effect_from_hints(metadata)


def _effect_from_hints(metadata: Mapping[str, Any]) -> tuple[Effect, bool]:
    """Map MCP annotations; what is not hinted at is external and not repeatable."""
    reads = metadata.get("readOnlyHint") is True
    stays_here = metadata.get("openWorldHint") is False
    idempotent = reads or metadata.get("idempotent") is True or metadata.get("idempotentHint") is True
    if not stays_here:
        return "external", idempotent
    return ("read" if reads else "write"), idempotent


def _from_function(function: Any) -> BaseTool:
    if not callable(function):
        raise ToolConfigError(repr(function)[:80], "is neither a LangChain tool nor a function")
    name = getattr(function, "__name__", repr(function)[:80])
    if not (function.__doc__ or "").strip():
        raise ToolConfigError(name, "a function needs a docstring that says what it does")
    try:
        made: BaseTool = as_tool(function)
    except (ValueError, TypeError) as error:
        raise ToolConfigError(name, f"cannot be made a tool: {error}") from error
    return made


def _is_awaitable(tool: BaseTool) -> bool:
    if isinstance(tool, StructuredTool | Tool):
        return tool.coroutine is not None
    return iscoroutinefunction(type(tool)._arun) and type(tool)._arun is not BaseTool._arun
