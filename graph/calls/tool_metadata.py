"""Specification of a LangChain tool for plans: its schema, and the declarations in its metadata."""

import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_args
from weakref import WeakKeyDictionary

from langchain_core.tools import BaseTool, StructuredTool, Tool
from pydantic.errors import PydanticInvalidForJsonSchema

from planner_executor.graph.errors import ToolConfigError
from planner_executor.graph.plan.attempts import ATTEMPT_FIELDS, limit_fault
from planner_executor.graph.plan.call_words import placeholders
from planner_executor.graph.plan.catalog import Effect, ToolSpec
from planner_executor.graph.words.name_list import did_you_mean, enumerated
from planner_executor.tools.mcp.hints import effect_of

LIKE_LATIN = {"Latin", "Cyrillic", "Greek"}
"""Scripts that share shapes of letters."""
HINTS = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
"""Metadata entries of a tool from an MCP server."""
DECLARED = (
    "effect",
    "idempotent",
    "timeout_s",
    "attempts",
    "backoff_s",
    "trusted",
    "free_args",
    "folder",
    "reads",
    "summary",
    "reversible",
    "place",
    "look",
    "preview",
    "preview_leaves",
)
"""Metadata entries by which a tool declares its effects."""
TITLE = "title"
"""Entry that MCP adapters keep beside the hints; ignored."""

_described: WeakKeyDictionary[type, dict[tuple[str, str], dict[str, Any]]] = WeakKeyDictionary()
"""Schemas by class of arguments, name and description: LangChain makes a class of each tool, which takes 2 ms."""


class Preview(NamedTuple):
    """A tool's function that shows what a call would do; `leaves`: it leaves the machine."""

    function: Callable[..., Any]
    leaves: bool


def spec_of(tool: BaseTool) -> ToolSpec:
    """Return the specification of a tool; its effects are read from its `metadata`."""
    metadata = dict(tool.metadata or {})
    if len(scripts := _scripts(tool.name)) > 1:
        raise ToolConfigError(tool.name, f"its letters are {enumerated(scripts)}, which look alike; rename it")
    _check_keys(tool.name, metadata)
    effect, idempotent = _effect(tool.name, metadata)
    schema = _schema(tool)
    return ToolSpec(
        name=tool.name,
        description=tool.description,
        schema=schema,
        effect=effect,
        idempotent=idempotent,
        **_attempt_limits(tool.name, metadata),
        trusted=_trusted(tool.name, metadata),
        free_args=tuple(_listed(tool.name, metadata, "free_args", "argument names", _is_text)),
        folder=_folder(tool.name, metadata),
        reads=tuple(_listed(tool.name, metadata, "reads", "absolute paths", _is_folder)),
        summary=_summary(tool.name, metadata, schema),
        reversible=_flag(tool.name, metadata, "reversible"),
        place=metadata.get("place"),
        look=_flag(tool.name, metadata, "look") or False,
        declared="effect" in metadata or bool(HINTS & set(metadata)),
    )


def preview_of(tool: BaseTool) -> Preview | None:
    """Return how a tool shows what a call would do, None if it does not.

    Raises:
        ToolConfigError: The declaration is none.
    """
    metadata = dict(tool.metadata or {})
    leaves, function = _flag(tool.name, metadata, "preview_leaves"), metadata.get("preview")
    if function is None:
        if leaves is not None:
            raise ToolConfigError(tool.name, "preview_leaves is declared without a preview")
        return None
    if not callable(function):
        raise ToolConfigError(tool.name, f"preview must be a function with the tool's arguments, got {function!r}")
    return Preview(function, _effect(tool.name, metadata)[0] == "external" if leaves is None else leaves)


def _check_keys(name: str, metadata: Mapping[str, Any]) -> None:
    """Reject unknown entries: a misspelt declaration would silently leave the tool undeclared.

    Entries that begin with an underscore or with `ls_` belong to adapters and tracers.
    """
    known = {*DECLARED, *HINTS, TITLE}
    for key in metadata:
        if key not in known and not str(key).startswith(("_", "ls_")):
            hint = f"{did_you_mean(key, sorted(known))} a tool declares {', '.join(DECLARED)}".strip()
            raise ToolConfigError(name, f"metadata has an unknown entry {str(key)!r}; {hint}")


def _schema(tool: BaseTool) -> dict[str, Any]:
    """Return the JSON Schema of a caller's arguments; LangChain's own omits that extra arguments are allowed."""
    if isinstance(tool, Tool) and tool.args_schema is None:
        return {"type": "object", "properties": tool.args, "required": list(tool.args)}
    if type(tool) is not StructuredTool or not isinstance(tool.args_schema, type):
        return _described_anew(tool)
    known = _described.setdefault(tool.args_schema, {})
    named = (tool.name, tool.description)
    if named not in known:
        known[named] = _described_anew(tool)
    return known[named]


def _described_anew(tool: BaseTool) -> dict[str, Any]:
    schema: Any = tool.tool_call_schema
    if isinstance(schema, dict):
        return schema
    try:
        described: dict[str, Any] = schema.model_json_schema()
    except PydanticInvalidForJsonSchema as error:
        raise ToolConfigError(tool.name, f"an argument is nothing that JSON can carry: {error.message}") from error
    config = getattr(tool.args_schema, "model_config", {})
    return {**described, "additionalProperties": True} if config.get("extra") == "allow" else described


def _attempt_limits(name: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    given = {limit: metadata[limit] for limit in ATTEMPT_FIELDS if metadata.get(limit) is not None}
    for limit, value in given.items():
        if fault := limit_fault(limit, value):
            raise ToolConfigError(name, f"{limit} is {value!r}; it {fault}")
    return given


def _trusted(name: str, metadata: Mapping[str, Any]) -> bool | None:
    """Return whether the output is trusted, None if undeclared; MCP tools default to untrusted."""
    declared = _flag(name, metadata, "trusted")
    return declared if declared is not None else False if HINTS & set(metadata) else None


def _flag(name: str, metadata: Mapping[str, Any], entry: str) -> bool | None:
    declared = metadata.get(entry)
    if not isinstance(declared, bool | None):
        raise ToolConfigError(name, f"{entry} {declared!r} is neither true nor false")
    return declared


def _summary(name: str, metadata: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """Return the words on what a call does, whose braces name arguments of the tool."""
    declared = metadata.get("summary")
    if declared is None:
        return None
    if not isinstance(declared, str) or not declared.strip():
        raise ToolConfigError(name, f'summary must be words such as "mail {{to}}", got {declared!r}')
    arguments = schema.get("properties", {})
    unknown = [one for one in placeholders(declared) if one not in arguments]
    if unknown and not schema.get("additionalProperties"):
        hint = f"{did_you_mean(unknown[0], list(arguments))} it takes {enumerated(list(arguments)) or 'none'}".strip()
        raise ToolConfigError(name, f"summary names {unknown[0]!r}, which is no argument; {hint}")
    return declared


def _listed(name: str, metadata: Mapping[str, Any], entry: str, what: str, is_one: Callable[[Any], bool]) -> list[str]:
    declared = metadata.get(entry, ())
    if not isinstance(declared, list | tuple) or not all(map(is_one, declared)):
        raise ToolConfigError(name, f"{entry} must be a list of {what}, got {declared!r}")
    return [str(one) for one in declared]


def _folder(name: str, metadata: Mapping[str, Any]) -> str | None:
    declared = metadata.get("folder")
    if declared is not None and not _is_folder(declared):
        raise ToolConfigError(name, f"folder must be an absolute path, got {str(declared)!r}")
    return None if declared is None else str(declared)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_folder(value: Any) -> bool:
    return isinstance(value, str | Path) and Path(value).is_absolute()


def _scripts(name: str) -> list[str]:
    """Return which scripts a name has letters of, among those whose letters have the same shapes."""
    return sorted({unicodedata.name(each, "").split(" ")[0].title() for each in name if each.isalpha()} & LIKE_LATIN)


def _effect(name: str, metadata: Mapping[str, Any]) -> tuple[Effect, bool]:
    declared = metadata.get("effect")
    if declared is not None:
        if declared not in get_args(Effect):
            raise ToolConfigError(name, f"effect must be one of {', '.join(get_args(Effect))}, got {declared!r}")
        return declared, metadata.get("idempotent") is True
    effect, repeatable = effect_of(metadata)  # of MCP hints
    return effect, repeatable or metadata.get("idempotent") is True
