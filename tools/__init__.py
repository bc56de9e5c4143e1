"""The project's own tools, as LangChain tools.

Importing this package is light: LangChain is loaded when one of the names below is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tools.declaration import tool
    from tools.errors import NothingHappened, ToolError, Transient
    from tools.idempotency import idempotency_key
    from tools.mcp.servers import McpServers
    from tools.registry import default_tools
    from tools.web.allowed_hosts import AllowedHost

__all__ = [
    "AllowedHost",
    "McpServers",
    "NothingHappened",
    "ToolError",
    "Transient",
    "default_tools",
    "idempotency_key",
    "tool",
]

_HOME = {
    "AllowedHost": "tools.web.allowed_hosts",
    "McpServers": "tools.mcp.servers",
    "NothingHappened": "tools.errors",
    "ToolError": "tools.errors",
    "Transient": "tools.errors",
    "default_tools": "tools.registry",
    "idempotency_key": "tools.idempotency",
    "tool": "tools.declaration",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
