"""The tools of a LangGraph server, for its graph and for the desk beside it: MCP servers start once a process."""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from planner_executor.graph.builder.tool_servers import with_servers_to_the_end
from planner_executor.graph.builder.user_tools import packs_chosen, toolset_over


@cache
def server_tools() -> Mapping[str, Any]:
    """Return the tools over the folders that the environment names, and those of MCP servers, as arguments of a graph.

    Raises:
        ConfigError: A tool cannot be made, a pack is unknown, or an MCP server cannot be started or reached.
    """
    toolset = toolset_over(
        Path(os.environ.get("PLANNER_EXECUTOR_DOCS", "docs")),
        Path(os.environ.get("PLANNER_EXECUTOR_WORKSPACE", "workspace")),
        packs_chosen(None, None, has_tools=False),
    )
    tools = with_servers_to_the_end(os.environ.get("PLANNER_EXECUTOR_MCP") or None, toolset.tools)
    return {"tools": tools, "reserve": toolset.reserve}
