"""MCP servers beside a graph's other tools: for the facade, the command line and Studio."""

import atexit
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool

from graph.calls.toolbox import Toolbox
from graph.configuration import check_reach
from graph.errors import ConfigError
from tools import McpServers, ToolError

Servers = str | Path | Mapping[str, Any] | None
Tools = Sequence[BaseTool | Callable[..., Any]]


@contextmanager
def with_servers(mcp: Servers, tools: Tools) -> Iterator[Tools]:
    """Yield the tools, and until the end of the block those of MCP servers beside them.

    Args:
        mcp: A file with an object `mcpServers`, such an object, or None for no servers.
        tools: Other tools; one of a server that has the same name gets its server's name in front.

    Raises:
        ConfigError: The servers are not described well, one cannot be started or reached, or the file lies where one of
            the other tools writes.
    """
    if mcp is None:
        yield tools
        return
    _check_file(mcp, tools)
    with ExitStack() as stack:
        with _told_as_configuration():
            servers = stack.enter_context(McpServers(mcp))
        yield [*tools, *servers.tools(beside=tools)]


@asynccontextmanager
async def awith_servers(mcp: Servers, tools: Tools) -> AsyncIterator[Tools]:
    """Do the same without holding up the event loop."""
    if mcp is None:
        yield tools
        return
    _check_file(mcp, tools)
    async with AsyncExitStack() as stack:
        with _told_as_configuration():
            servers = await stack.enter_async_context(McpServers(mcp))
        yield [*tools, *servers.tools(beside=tools)]


def with_servers_to_the_end(mcp: Servers, tools: Tools) -> Tools:
    """Return the same for as long as the process lives.

    Raises:
        ConfigError: As above.
    """
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(with_servers(mcp, tools))


def _check_file(mcp: Servers, tools: Tools) -> None:
    """Refuse a file that a tool can write: it names the programs that are started."""
    if isinstance(mcp, str | Path):
        check_reach(Toolbox(tools).specs, mcp)


@contextmanager
def _told_as_configuration() -> Iterator[None]:
    try:
        yield
    except ToolError as error:
        raise ConfigError(str(error)) from error
