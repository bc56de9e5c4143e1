"""The graph for LangGraph Studio and the LangGraph server; see `langgraph.json`. The server brings the checkpointer.

Ledger and checkpoints share the file that PLANNER_EXECUTOR_DB names.
"""

from planner_executor.graph.builder import build_graph
from planner_executor.graph.checkpoint import database
from planner_executor.graph.server_tools import server_tools

graph = build_graph(tools=server_tools(), ledger=database())
