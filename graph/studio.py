"""The graph for LangGraph Studio and the LangGraph server; see `langgraph.json`. The server brings the checkpointer.

Ledger and checkpoints share the file that PLANNER_EXECUTOR_DB names.
"""

import os
from pathlib import Path

from graph import build_graph
from graph.checkpoint import database
from graph.tool_servers import with_servers_to_the_end
from tools import default_tools

graph = build_graph(
    tools=with_servers_to_the_end(
        os.environ.get("PLANNER_EXECUTOR_MCP") or None,
        default_tools(
            documents=Path(os.environ.get("PLANNER_EXECUTOR_DOCS", "docs")),
            workspace=Path(os.environ.get("PLANNER_EXECUTOR_WORKSPACE", "workspace")),
        ),
    ),
    ledger=database(),
)
