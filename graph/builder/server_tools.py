"""The tools of a LangGraph server, for its graph and for the desk beside it: MCP servers start once a process."""

import os
from functools import cache
from pathlib import Path

from planner_executor.graph.builder.tool_servers import Tools, with_servers_to_the_end
from planner_executor.tools.registry import default_tools


@cache
def server_tools() -> Tools:
    """Return the tools over the folders that the environment names, and those of its MCP servers.

    Raises:
        ConfigError: An MCP server cannot be started or reached.
    """
    return with_servers_to_the_end(
        os.environ.get("PLANNER_EXECUTOR_MCP") or None,
        default_tools(
            documents=Path(os.environ.get("PLANNER_EXECUTOR_DOCS", "docs")),
            workspace=Path(os.environ.get("PLANNER_EXECUTOR_WORKSPACE", "workspace")),
        ),
    )
