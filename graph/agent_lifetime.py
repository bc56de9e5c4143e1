"""Opening and closing the asynchronous facade."""

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Self

from planner_executor.graph.agent_session import AgentSession, open_session
from planner_executor.graph.builder import Graph
from planner_executor.graph.checkpoint import DATABASE
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.ledger.opening import shown
from planner_executor.graph.lifetime import OpenOnUse
from planner_executor.graph.runs import Runs
from planner_executor.graph.text.notebook import draw_plans
from planner_executor.graph.tool_servers import Servers, Tools


class AgentLifetime:
    """A database with a graph over it.

    It opens on `async with` or first use, and closes at the end of the block, on `aclose`, with its event loop, or when
    it is garbage collected.
    """

    def __init__(
        self, database: str | Path = DATABASE, *, tools: Tools | None = None, mcp: Servers = None, **options: Any
    ) -> None:
        """Configure an agent; configuration errors are raised when it is opened.

        Args:
            database: An SQLite file, which is created if it is not there, or the address of a PostgreSQL database.
            tools: LangChain tools or functions with a docstring; None means the project's own.
            mcp: MCP servers, or a file that lists them; they run until the agent closes, and their tools are added.
            options: See `graph.build_graph`: `planner`, `executor`, `approval`, ...

        Raises:
            ConfigError: When it is opened: a model, a tool, an MCP server or a setting is invalid.
            LedgerUnavailableError: When it is opened: the database cannot be used.
            AgentClosedError: When it is used after it was closed.
        """
        self._open = OpenOnUse(shown(database), partial(open_session, database, tools, mcp, options))
        draw_plans()

    @classmethod
    def open(cls, database: str | Path = DATABASE, **options: Any) -> Self:
        """Return an agent, with the same arguments."""
        return cls(database, **options)

    @classmethod
    def over(cls, graph: Graph, runs: Runs) -> Self:
        """Return an agent over a graph and runs that the caller opens and closes."""
        agent = cls(runs.ledger.name)
        agent._open = OpenOnUse(runs.ledger.name, lambda: nullcontext(AgentSession(graph, runs)))
        return agent

    async def __aenter__(self) -> Self:
        try:
            await self._open.get()
        except BaseException:
            await self.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __enter__(self) -> NoReturn:
        raise ConfigError("AsyncAgent needs `async with AsyncAgent.open(...)`; in synchronous code use graph.Agent")

    def __exit__(self, *_: object) -> None: ...

    def __await__(self) -> NoReturn:
        raise ConfigError("AsyncAgent.open(...) is not awaited; use `async with`, or await its methods, such as start")

    @property
    def graph(self) -> Graph:
        """The graph, while the agent is open."""
        return self._open.value.graph

    @property
    def runs(self) -> Runs:
        """The runs, while the agent is open."""
        return self._open.value.runs

    def check(self) -> None:
        """Check that the agent can be used.

        Raises:
            AgentClosedError: It was closed, or opened before this process was forked.
        """
        self._open.check()

    async def aclose(self) -> None:
        """Close the database and stop the MCP servers; end executing runs first."""
        await self._open.close()
