"""The tools of a LangGraph server, for its graph and for the desk beside it: MCP servers start once a process."""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from planner_executor.graph.builder.configuration import tools_in_file
from planner_executor.graph.builder.tool_servers import with_servers_to_the_end
from planner_executor.graph.builder.user_tools import packs_chosen, toolset_over


@cache
def server_tools() -> Mapping[str, Any]:
    """Return the tools over the folders that the environment names, those of the settings file, and of MCP servers.

    They are arguments of a graph.

    Raises:
        ConfigError: A tool cannot be made or imported, a pack is unknown, or an MCP server cannot be reached.
    """
    own = tools_in_file(None)
    toolset = toolset_over(
        Path(os.environ.get("PLANNER_EXECUTOR_DOCS", "docs")),
        Path(os.environ.get("PLANNER_EXECUTOR_WORKSPACE", "workspace")),
        packs_chosen(None, None, has_tools=bool(own)),
        own,
    )
    tools = with_servers_to_the_end(os.environ.get("PLANNER_EXECUTOR_MCP") or None, toolset.tools)
    return {"tools": tools, "reserve": toolset.reserve}
