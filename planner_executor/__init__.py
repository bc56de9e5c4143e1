"""A planner-executor agent on LangGraph: explicit plans, binding approval, effects at most once, an audit ledger.

Importing this package is light; what a name needs is imported when the name is used.
"""

import os

_HOME = {
    "Agent": "graph.agent",
    "AgentError": "graph.errors",
    "AllowedHost": "tools.web.allowed_hosts",
    "AsyncAgent": "graph.agent",
    "McpServers": "tools.mcp.servers",
    "ModelSettings": "graph.chat_models.settings",
    "NothingHappened": "tools.errors",
    "Person": "graph.record.person",
    "Playbook": "graph.playbooks",
    "Run": "graph.runs.run",
    "ToolError": "tools.errors",
    "Transient": "tools.errors",
    "build_graph": "graph.builder.graph_builder",
    "default_tools": "tools.registry",
    "idempotency_key": "tools.idempotency",
    "tool": "tools.declaration",
}
__all__ = list(_HOME)

# `graph`, `tools` and `incident_tools` are links to folders; a checkout that cannot hold links finds them there.
if not os.path.isdir(f"{__path__[0]}/graph"):  # noqa: PTH112  (pathlib takes long to import)
    __path__ += [f"{__path__[0]}/..", f"{__path__[0]}/../examples/incident"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
