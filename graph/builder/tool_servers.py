"""Tools of MCP servers, added to a graph's other tools."""

import atexit
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool

from planner_executor.graph.builder.configuration import check_reach
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.errors import ConfigError
from planner_executor.tools.errors import ToolError

if TYPE_CHECKING:
    from planner_executor.tools.mcp.servers import McpServers

Servers = str | Path | Mapping[str, Any] | None
Tools = Sequence[BaseTool | Callable[..., Any]]


@contextmanager
def with_servers(mcp: Servers, tools: Tools) -> Iterator[Tools]:
    """Yield the tools and those of MCP servers, which run until the end of the block.

    Args:
        mcp: A file with an object `mcpServers`, such an object, or None for no servers.
        tools: The other tools; a server's tool of the same name is prefixed with the server's name.

    Raises:
        ConfigError: The description is invalid, a server cannot be started or reached, or one of the other tools can
            write to the file, or to a folder or program of a server.
    """
    if mcp is None:
        yield tools
        return
    servers = _described(mcp, tools)
    with ExitStack() as stack:
        with _as_config_error():
            stack.enter_context(servers)
        yield [*tools, *servers.tools(beside=tools)]


@asynccontextmanager
async def awith_servers(mcp: Servers, tools: Tools) -> AsyncIterator[Tools]:
    """See `with_servers`; does not block the event loop."""
    if mcp is None:
        yield tools
        return
    servers = _described(mcp, tools)
    async with AsyncExitStack() as stack:
        with _as_config_error():
            await stack.enter_async_context(servers)
        yield [*tools, *servers.tools(beside=tools)]


def with_servers_to_the_end(mcp: Servers, tools: Tools) -> Tools:
    """Return the tools and those of MCP servers, which run until the process ends.

    Raises:
        ConfigError: See `with_servers`.
    """
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(with_servers(mcp, tools))


def _described(mcp: str | Path | Mapping[str, Any], tools: Tools) -> "McpServers":
    """Return the servers of a description; refuse what a tool can write: their file, folders and programs."""
    from planner_executor.tools.mcp.servers import McpServers  # few agents have servers

    specs = Toolbox(tools).specs
    if not isinstance(mcp, Mapping):
        check_reach(specs, mcp)
    with _as_config_error():
        servers = McpServers(mcp)
    for name, place in servers.programs():
        check_reach(specs, place, f"the MCP server {name} runs there")
    return servers


@contextmanager
def _as_config_error() -> Iterator[None]:
    try:
        yield
    except ToolError as error:
        raise ConfigError(str(error)) from error
