"""A LangChain tool ready to be called: its specification and its invocation."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial, wraps
from inspect import iscoroutinefunction
from types import MappingProxyType
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.runnables import ensure_config
from langchain_core.tools import BaseTool, StructuredTool, Tool, ToolException
from langchain_core.tools import tool as as_tool
from langgraph.errors import GraphInterrupt
from pydantic import JsonValue

from planner_executor.graph.calls.function_tool import is_straight, is_watched, parsed
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.calls.tool_metadata import Preview, preview_of, spec_of
from planner_executor.graph.errors import ToolConfigError
from planner_executor.graph.plan.catalog import ToolSpec

SWALLOWED = {"config", "run_manager", "callbacks", "self"}
"""Argument names that LangChain reserves when it calls a function tool."""
Prove = Callable[[], Awaitable[Callable[[], bool]]]
NOTHING: Mapping[str, Any] = MappingProxyType({})
INTERRUPTS = (
    "calls LangGraph's interrupt(), which tools cannot do here: let the plan ask, with an ask step or a gate, "
    "or let the policy hold the call for review"
)


@dataclass(frozen=True)
class BoundTool:
    """A tool with its specification for plans; awaited if it is asynchronous."""

    spec: ToolSpec
    tool: BaseTool
    awaitable: bool
    preview: Preview | None = None

    @property
    def is_direct(self) -> bool:
        """Whether its function can be called without LangChain's invocation, which nobody observes in this context."""
        return self._is_straight and not is_watched(self.tool, ensure_config())

    async def call(
        self,
        args: Mapping[str, JsonValue],
        about: Mapping[str, Any] = NOTHING,
        is_direct: bool | None = None,
        prove: Prove | None = None,
    ) -> Any:
        """Call the tool with exactly these arguments and return its output.

        Args:
            args: The arguments.
            about: Metadata for tracers.
            is_direct: `is_direct`, if it is known: to find out takes longer than the rest.
            prove: Is called right before the tool, and may refuse the call; its proof is asked on the tool's thread.
        """
        # LangChain would drop arguments of these names without a word, so its invocation is left out.
        if self._function is not None and SWALLOWED & set(args):
            returned = await self._made(partial(self._function, **args), prove)
            # LangChain's `artifact` is for programs beside the model: a plan works on the content.
            return returned[0] if self.tool.response_format == "content_and_artifact" else returned
        if self.is_direct if is_direct is None else is_direct:
            output = await self._made(partial(self._straight, args), prove)
        else:
            config = ensure_config()
            tool, prove = self._with_proof(prove)
            call = tool.arun if self.awaitable else tool.run
            options: dict[str, Any] = {"callbacks": config.get("callbacks"), "metadata": dict(about), "config": config}
            output = await self._made(partial(call, dict(args), **options), prove)
        if not isinstance(output, ToolMessage):
            return output
        if output.status == "error":
            raise ToolException(str(output.content))
        return output.content

    @property
    def foresees(self) -> bool:
        """Whether the tool can preview replaced files: its function has an attribute `would_replace`."""
        return callable(getattr(self._function, "would_replace", None))

    def foreseen(self, args: Mapping[str, JsonValue]) -> str | None:
        """Return the tool's description of the data a call would replace, or None; the tool may read the disk.

        Args:
            args: The arguments; None for one that is not known yet.
        """
        try:
            sentence = getattr(self._function, "would_replace")(dict(args))  # noqa: B009  (no attribute to type checkers)
        except Exception:  # noqa: BLE001  (a tool's own code; the call itself says what is wrong)
            return None
        return sentence if isinstance(sentence, str) else None

    async def previewed(self, args: Mapping[str, JsonValue]) -> Any:
        """Return what the tool shows of a call with these arguments, which is not made."""
        assert self.preview is not None
        work = partial(self.preview.function, **args)
        return await (work() if self.is_preview_awaitable else run_sync(work))

    @property
    def is_preview_awaitable(self) -> bool:
        """Whether its preview is asynchronous."""
        return self.preview is not None and iscoroutinefunction(self.preview.function)

    async def _made(self, work: Callable[[], Any], prove: Prove | None) -> Any:
        """Run work in its own context: in a task, or on a thread if it is not asynchronous."""

        async def awaited() -> Any:
            if prove is not None:  # in the task: nothing else runs between the proof and the tool
                await prove()
            return await work()

        try:
            return await (asyncio.create_task(awaited()) if self.awaitable else _on_thread(work, prove))
        except GraphInterrupt as interrupt:
            raise ToolException(f"{self.spec.name} {INTERRUPTS}") from interrupt

    def _with_proof(self, prove: Prove | None) -> tuple[BaseTool, Prove | None]:
        """Return the tool with the proof in front of its coroutine: LangChain lets other tasks run before it."""
        function = self._function
        if prove is None or function is None or not self.awaitable:
            return self.tool, prove

        @wraps(function)
        async def proved(*args: Any, **named: Any) -> Any:
            await prove()
            return await function(*args, **named)

        return self.tool.model_copy(update={"coroutine": proved}), None

    def _straight(self, args: Mapping[str, JsonValue]) -> Any:
        assert self._function is not None
        return self._function(**parsed(self.tool.args_schema, args))

    @cached_property
    def _function(self) -> Callable[..., Any] | None:
        return getattr(self.tool, "coroutine" if self.awaitable else "func", None)

    @cached_property
    def _is_straight(self) -> bool:
        return is_straight(self.tool, self._function, self.spec.parameters)


async def _on_thread(work: Callable[[], Any], prove: Prove | None) -> Any:
    """Run work on a thread, where the proof must still count; else another one is asked for."""
    if prove is None:
        return await run_sync(work)

    def proved(counts: Callable[[], bool]) -> tuple[bool, Any]:
        return (True, work()) if counts() else (False, None)

    while True:
        begun, output = await run_sync(partial(proved, await prove()))
        if begun:
            return output


def bind(given: BaseTool | Callable[..., Any]) -> BoundTool:
    """Bind a tool, or a plain function with a docstring.

    Raises:
        ToolConfigError: The tool has no description, declares an unknown effect, or has an invalid schema.
    """
    tool = given if isinstance(given, BaseTool) else _from_function(given)
    if tool.handle_tool_error or tool.handle_validation_error:
        # Either setting would turn a failure into text that looks like a result.
        tool = tool.model_copy(update={"handle_tool_error": False, "handle_validation_error": False})
    spec, preview = spec_of(tool), preview_of(tool)
    if preview is not None:  # metadata goes to tracers, which take JSON
        tool = tool.model_copy(update={"metadata": {k: v for k, v in (tool.metadata or {}).items() if k != "preview"}})
    if fault := spec.schema_fault():
        raise ToolConfigError(tool.name, f"its arguments have no valid JSON Schema: {fault}")
    return BoundTool(spec, tool, _is_awaitable(tool), preview)


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
    # `BaseTool._arun` is a coroutine too, but one that only hands the call to a thread.
    return iscoroutinefunction(type(tool)._arun) and type(tool)._arun is not BaseTool._arun
