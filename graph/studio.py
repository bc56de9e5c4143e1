"""The graph for LangGraph Studio and the LangGraph server; see `langgraph.json`. The server brings the checkpointer.

Ledger and checkpoints share the file that PLANNER_EXECUTOR_DB names.
"""

from graph import build_graph
from graph.checkpoint import database
from graph.server_tools import server_tools

graph = build_graph(tools=server_tools(), ledger=database())
