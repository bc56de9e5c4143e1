"""MCP servers as tools: one session with each, from the beginning of a `with` block to its end."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from anyio import CancelScope
from langchain_core.tools import BaseTool, StructuredTool

from planner_executor.tools.call_progress import progress_listener
from planner_executor.tools.call_questions import replies_given
from planner_executor.tools.errors import ConfigInvalid, McpUnavailable
from planner_executor.tools.mcp.config import StdioServer, read_config, servers_of
from planner_executor.tools.mcp.connection import Connection
from planner_executor.tools.mcp.launch import package_fault
from planner_executor.tools.mcp.loop import LoopThread
from planner_executor.tools.mcp.names import plan_names
from planner_executor.tools.mcp.offer import Offer
from planner_executor.tools.mcp.stderr import LOG

START_TIMEOUT_S = 60.0


class McpServers:
    """MCP servers as a context: `with` or `async with` starts or reaches them, and leaves them at the end.

    Their sessions live on an event loop of their own, so the tools work wherever they are called from: by `.invoke` and
    by `.ainvoke`, in any loop and any thread.
    """

    def __init__(self, config: str | Path | Mapping[str, Any], *, start_timeout_s: float = START_TIMEOUT_S) -> None:
        """Read the configuration; servers with `"disabled": true` are left out.

        Args:
            config: A JSON file with an object `mcpServers`, or such an object: server name -> `command`, `args`, `env`,
                `cwd`, or `url`, `headers`; beside them rules for its tools.
            start_timeout_s: How long a server may take to start.

        Raises:
            ConfigInvalid: The file cannot be read, an entry is invalid, or a variable it needs is not set.
        """
        if isinstance(config, Mapping):
            self._servers = servers_of(config.get("mcpServers", config), "MCP servers", Path.cwd())
        else:
            self._servers = read_config(Path(config))
        if self._servers and (fault := package_fault()):
            raise ConfigInvalid("MCP servers", fault)
        self._start_timeout_s = start_timeout_s
        self._offered: list[tuple[Connection, list[Offer]]] = []
        self._loop: LoopThread | None = None

    def __repr__(self) -> str:
        return f"McpServers({', '.join(server.name for server in self._servers)})"

    def __enter__(self) -> Self:
        """Start all servers at once.

        Raises:
            McpUnavailable: One of them cannot be started or reached; the others are left.
        """
        self._loop = LoopThread()
        try:
            self._offered = self._loop.submit(self._opened()).result()
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    async def __aenter__(self) -> Self:
        self._loop = LoopThread()
        try:
            self._offered = await asyncio.wrap_future(self._loop.submit(self._opened()))
        except BaseException:
            await self._aleave()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._aleave()

    def programs(self) -> list[tuple[str, Path]]:
        """Return the folders in which servers are started, and the files that their commands name, with their names."""
        started = [server for server in self._servers if isinstance(server, StdioServer)]
        return [(server.name, place) for server in started for place in server.places]

    def tools(self, beside: Iterable[BaseTool | Callable[..., Any]] = ()) -> list[BaseTool]:
        """Return the servers' tools; if a name is not unique, its server's name is put in front.

        Args:
            beside: Other tools of the same graph.
        """
        taken = {tool.name if isinstance(tool, BaseTool) else getattr(tool, "__name__", "") for tool in beside}
        offered = {connection.server.name: [offer.tool for offer in offers] for connection, offers in self._offered}
        named = plan_names(offered, taken)
        tools: list[BaseTool] = []
        for connection, offers in self._offered:
            for offer in offers:
                if name := named.get((connection.server.name, offer.tool)):
                    tools.append(self._tool(name, connection, offer))
                else:
                    LOG.warning("%s: a tool is left out, its name is taken: %.80r", connection.server.name, offer.tool)
        return tools

    def _tool(self, name: str, connection: Connection, offer: Offer) -> BaseTool:
        async def call(**args: Any) -> Any:
            if self._loop is None:
                left = "its `with` block has ended; use its tools inside the block"
                raise McpUnavailable(connection.server.name, left)
            return await asyncio.wrap_future(
                self._loop.submit(connection.call(offer, args, progress_listener(), replies_given()))
            )

        return StructuredTool(
            name=name,
            description=offer.description,
            args_schema=dict(offer.schema),
            coroutine=call,
            metadata=offer.metadata,
        )

    async def _opened(self) -> list[tuple[Connection, list[Offer]]]:
        connections = [Connection(server, self._start_timeout_s) for server in self._servers]
        await asyncio.to_thread(import_module, "mcp")  # a second's work that no server's time is spent on
        # Known before they are open: if one cannot be opened, the others are left too.
        self._offered = [(connection, []) for connection in connections]
        try:
            async with asyncio.TaskGroup() as group:
                opening = [group.create_task(connection.open()) for connection in connections]
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return [(connection, task.result()) for connection, task in zip(connections, opening, strict=True)]

    async def _closed(self) -> None:
        await asyncio.gather(*(connection.close() for connection, _ in self._offered))

    def _leave(self) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.submit(self._closed()).result()
            loop.stop()
            self._offered = []

    async def _aleave(self) -> None:
        # Programs were started here, and a cancellation must not leave them behind.
        with CancelScope(shield=True):
            await asyncio.to_thread(self._leave)
