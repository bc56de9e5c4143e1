"""Start or reach a server, with the reason if that fails."""

from contextlib import AsyncExitStack
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from planner_executor.tools.mcp.config import HttpServer, StdioServer
from planner_executor.tools.mcp.stderr import StandardError

if TYPE_CHECKING:
    from mcp import Client

CONNECT_TIMEOUT_S = 30.0
MAX_EVENT_BYTES = 16_000_000
"""The largest event that an answer by HTTP may hold."""


def package_fault() -> str | None:
    """Return why the package `mcp` cannot be used, or None if it can."""
    try:
        found = version("mcp")
    except PackageNotFoundError:
        return "the package mcp is missing; pip install '.[mcp]' in the folder of planner-executor"
    if int(found.split(".")[0]) < 2:
        return (
            f"the package mcp is {found}, 2 or newer is needed; pip install '.[mcp]' in the folder of planner-executor"
        )
    return None


async def entered(server: StdioServer | HttpServer, errors: StandardError | None, stack: AsyncExitStack) -> "Client":
    """Start or reach a server, negotiate the protocol version, and enter the contexts into the stack.

    A program gets the variables of its configuration, and of ours only HOME, LOGNAME, PATH, SHELL, TERM and USER. The
    client offers no capabilities here: no server may request model output or our folders.
    """
    from httpx2 import AsyncClient, Timeout
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.types import Implementation

    us = Implementation(name="planner-executor", version=version("planner-executor"))
    if isinstance(server, StdioServer):
        assert errors is not None
        program = StdioServerParameters(
            command=server.command, args=list(server.args), env=dict(server.env), cwd=server.cwd
        )
        with errors as stream:
            return await stack.enter_async_context(
                Client(stdio_client(program, errlog=stream), cache=None, client_info=us)
            )
    timeout = Timeout(CONNECT_TIMEOUT_S, read=None)  # how long an answer may take is bounded call by call
    http = await stack.enter_async_context(AsyncClient(headers=server.headers, timeout=timeout))
    transport = streamable_http_client(server.url, http_client=http, max_sse_event_size=MAX_EVENT_BYTES)
    return await stack.enter_async_context(Client(transport, cache=None, client_info=us))


def reason_of(error: BaseException, timeout_s: float) -> str:
    """Return why a server could not be started or reached."""
    from mcp import MCPError
    from mcp.types import CONNECTION_CLOSED

    # The client uses task groups, which wrap the error in a group.
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"it gave no answer within {timeout_s:g} s"
    if isinstance(error, MCPError) and error.code == CONNECTION_CLOSED:
        return "it ended before it was ready"
    if isinstance(error, OSError):
        return f"{(error.strerror or str(error)).lower()}" + (f": {error.filename}" if error.filename else "")
    return f"{type(error).__name__}: {error}"
