"""A planner-executor agent on LangGraph: explicit plans, binding approval, effects at most once, an audit ledger.

Importing this package is light; what a name needs is imported when the name is used.
"""

import os

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import Any

    from planner_executor.graph.agent import Agent, AsyncAgent
    from planner_executor.graph.builder.graph_builder import build_graph
    from planner_executor.graph.chat_models.settings import ModelSettings
    from planner_executor.graph.errors import AgentError
    from planner_executor.graph.record.person import Person
    from planner_executor.graph.runs import Run
    from planner_executor.tools.declaration import tool
    from planner_executor.tools.errors import NothingHappened, ToolError, Transient
    from planner_executor.tools.idempotency import idempotency_key
    from planner_executor.tools.mcp.servers import McpServers
    from planner_executor.tools.registry import default_tools
    from planner_executor.tools.web.allowed_hosts import AllowedHost

__all__ = [
    "Agent",
    "AgentError",
    "AllowedHost",
    "AsyncAgent",
    "McpServers",
    "ModelSettings",
    "NothingHappened",
    "Person",
    "Run",
    "ToolError",
    "Transient",
    "build_graph",
    "default_tools",
    "idempotency_key",
    "tool",
]

_HOME = {
    "Agent": "graph.agent",
    "AgentError": "graph.errors",
    "AllowedHost": "tools.web.allowed_hosts",
    "AsyncAgent": "graph.agent",
    "McpServers": "tools.mcp.servers",
    "ModelSettings": "graph.chat_models.settings",
    "NothingHappened": "tools.errors",
    "Person": "graph.record.person",
    "Run": "graph.runs",
    "ToolError": "tools.errors",
    "Transient": "tools.errors",
    "build_graph": "graph.builder.graph_builder",
    "default_tools": "tools.registry",
    "idempotency_key": "tools.idempotency",
    "tool": "tools.declaration",
}

# `graph` and `tools` are links to the folders beside this one; a checkout that cannot hold links finds them there.
if not os.path.isdir(f"{__path__[0]}/graph"):  # noqa: PTH112  (pathlib takes long to import)
    __path__.append(f"{__path__[0]}/..")


def __getattr__(name: str) -> "Any":
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
