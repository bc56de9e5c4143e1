"""LangChain tools as plans see them, and how one is called."""

import asyncio
import logging
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from inspect import iscoroutinefunction
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from langchain_core.messages import ToolMessage
from langchain_core.runnables import ensure_config
from langchain_core.tools import BaseTool, StructuredTool, Tool, ToolException
from langchain_core.tools import tool as as_tool
from pydantic import JsonValue
from pydantic.errors import PydanticInvalidForJsonSchema

from graph.calls.function_tool import is_straight, is_watched, parsed
from graph.calls.threads import run_sync
from graph.errors import ToolConfigError
from graph.plan.catalog import UNDECLARED, Effect, ToolSpec, is_undeclared
from graph.plan.references import references_in
from graph.plan.schema import Plan, Step
from graph.plan.suggestions import did_you_mean
from graph.record.values import Kept, keep_constant, normalise
from tools.errors import NothingHappened
from tools.files.root import Root
from tools.mcp.hints import effect_of

SWALLOWED = {"config", "run_manager", "callbacks", "self"}
"""Argument names that LangChain takes for itself when it calls a function tool."""


LOGGER = logging.getLogger("planner_executor.tools")
NOTHING: Mapping[str, Any] = MappingProxyType({})
HINTS = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
"""Entries of the metadata of a tool that an MCP server offers."""
DECLARED = ("effect", "idempotent", "timeout_s", "trusted", "free_args", "folder", "place")
"""Entries of the metadata by which a tool says what it does to the world."""
TITLE = "title"
"""What MCP adapters keep beside the hints; it decides nothing."""


@dataclass(frozen=True)
class BoundTool:
    """A tool, what plans may know of it, and whether it can be awaited."""

    spec: ToolSpec
    tool: BaseTool
    awaitable: bool

    async def call(self, args: Mapping[str, JsonValue], about: Mapping[str, Any] = NOTHING) -> Any:
        """Call the tool with exactly these arguments and return what it returns; `about` is metadata for tracers."""
        if self._function is not None and SWALLOWED & set(args):
            returned = await self._made(partial(self._function, **args))
            return returned[0] if self.tool.response_format == "content_and_artifact" else returned
        config = ensure_config()
        if self._is_straight and not is_watched(self.tool, config):
            output = await self._made(partial(self._straight, args))
        else:
            call = self.tool.arun if self.awaitable else self.tool.run
            told: dict[str, Any] = {"callbacks": config.get("callbacks"), "metadata": dict(about), "config": config}
            output = await self._made(partial(call, dict(args), **told))
        if not isinstance(output, ToolMessage):
            return output
        if output.status == "error":
            raise ToolException(str(output.content))
        return output.content

    @property
    def foresees(self) -> bool:
        """Whether the tool can say what a call would replace: its function has a function `would_replace`."""
        return callable(getattr(self._function, "would_replace", None))

    def foreseen(self, args: Mapping[str, JsonValue]) -> str | None:
        """Return what the tool says that a call would replace, None if it says nothing; it may look at the disk.

        Args:
            args: The arguments; one that is not known yet is None.
        """
        try:
            said = getattr(self._function, "would_replace")(dict(args))  # noqa: B009  (no attribute to type checkers)
        except Exception:  # noqa: BLE001  (a tool's own code; the call itself says what is wrong)
            return None
        return said if isinstance(said, str) else None

    async def _made(self, work: Callable[[], Any]) -> Any:
        """Do work in a context of its own: in a task, or on a thread where it cannot be awaited."""
        if not self.awaitable:
            return await run_sync(work)

        async def awaited() -> Any:
            return await work()

        return await asyncio.create_task(awaited())

    def _straight(self, args: Mapping[str, JsonValue]) -> Any:
        assert self._function is not None
        return self._function(**parsed(self.tool.args_schema, args))

    @cached_property
    def _function(self) -> Callable[..., Any] | None:
        return getattr(self.tool, "coroutine" if self.awaitable else "func", None)

    @cached_property
    def _is_straight(self) -> bool:
        return is_straight(self.tool, self._function, self.spec.parameters)


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
        self._warned: set[str] = set()

    def warn_of_undeclared(self, granted: Iterable[str]) -> None:
        """Warn, once for each tool, that a model is granted one of which nothing is declared."""
        new = sorted({name for name in granted if is_undeclared(self.specs[name])} - self._warned)
        self._warned.update(new)
        for name in new:
            LOGGER.warning("tool %s: %s", name, UNDECLARED, extra={"tool": name})

    @cached_property
    def kept(self) -> Kept:
        """What plans may know of the tools, as the ledger keeps it."""
        return keep_constant(normalise(list(self.specs.values())))

    @property
    def folders(self) -> tuple[str, ...]:
        """Where the tools work, as far as they say."""
        return tuple(dict.fromkeys(spec.folder for spec in self.specs.values() if spec.folder))

    async def would_replace(self, plan: Plan) -> list[str]:
        """Return sentences on the files that calls of a plan would replace, as far as their tools foresee it."""
        steps = {step.id: step for step in plan.steps if step.tool in self and step.for_each is None}
        foreseeing = {name: self[str(step.tool)] for name, step in steps.items() if self[str(step.tool)].foresees}
        if not foreseeing:
            return []
        said = await run_sync(lambda: {name: foreseeing[name].foreseen(_known(steps[name])) for name in foreseeing})
        return [f"{name}: {sentence}" for name, sentence in said.items() if sentence]

    def file(self, path: str) -> str | None:
        """Say what regular file is at a path where tools work, None for none; no link is followed out."""
        for folder in self.folders:
            root = Root(Path(folder), folder)
            try:
                with root.place(path) as place:
                    found = place.look()
            except (NothingHappened, OSError):
                continue
            if found is not None and stat.S_ISREG(found.st_mode):
                return f"{found.st_size} bytes"
        return None

    def __getitem__(self, name: str) -> BoundTool:
        return self._tools[name]

    def __iter__(self) -> Any:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)


def _known(step: Step) -> dict[str, JsonValue]:
    """Return a step's arguments, with None in the place of those that hold a reference."""
    return {
        name: value if name in step.literal or not any(references_in(value)) else None
        for name, value in step.args.items()
    }


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
    _check_keys(tool.name, metadata)
    effect, idempotent = _effect(tool.name, metadata)
    return ToolSpec(
        name=tool.name,
        description=tool.description,
        schema=_schema(tool),
        effect=effect,
        idempotent=idempotent,
        timeout_s=_timeout_s(tool.name, metadata),
        trusted=_trusted(tool.name, metadata),
        free_args=_free_args(tool.name, metadata),
        folder=_folder(tool.name, metadata),
        place=metadata.get("place"),
        declared="effect" in metadata or bool(HINTS & set(metadata)),
    )


def _check_keys(name: str, metadata: Mapping[str, Any]) -> None:
    """Refuse an entry that nothing reads: a misspelt declaration would leave the tool undeclared without a word.

    Entries that begin with an underscore or with `ls_` belong to adapters and tracers.
    """
    known = {*DECLARED, *HINTS, TITLE}
    for key in metadata:
        if key not in known and not str(key).startswith(("_", "ls_")):
            meant = did_you_mean(str(key), sorted(known))
            why = f"metadata has an unknown entry {str(key)!r}; {meant}a tool declares {', '.join(DECLARED)}"
            raise ToolConfigError(name, why)


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


def _trusted(name: str, metadata: Mapping[str, Any]) -> bool | None:
    """Return whether the output may be believed, None where the tool does not say; servers' words may not."""
    declared = metadata.get("trusted")
    if not isinstance(declared, bool | None):
        raise ToolConfigError(name, f"trusted {declared!r} is neither true nor false")
    return declared if declared is not None else False if HINTS & set(metadata) else None


def _free_args(name: str, metadata: Mapping[str, Any]) -> tuple[str, ...]:
    declared = metadata.get("free_args", ())
    if not isinstance(declared, list | tuple) or not all(isinstance(argument, str) for argument in declared):
        raise ToolConfigError(name, f"free_args {declared!r} is no list of names of arguments")
    return tuple(declared)


def _folder(name: str, metadata: Mapping[str, Any]) -> str | None:
    declared = metadata.get("folder")
    if declared is not None and not (isinstance(declared, str | Path) and Path(declared).is_absolute()):
        raise ToolConfigError(name, f"folder {str(declared)!r} is no absolute path")
    return None if declared is None else str(declared)


def _effect(name: str, metadata: Mapping[str, Any]) -> tuple[Effect, bool]:
    declared = metadata.get("effect")
    if declared is not None:
        if declared not in get_args(Effect):
            raise ToolConfigError(name, f"effect {declared!r} is none of {', '.join(get_args(Effect))}")
        return declared, metadata.get("idempotent") is True
    effect, repeatable = effect_of(metadata)  # of MCP hints
    return effect, repeatable or metadata.get("idempotent") is True


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
