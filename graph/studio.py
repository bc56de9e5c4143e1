"""The graph for LangGraph Studio and the LangGraph server; see `langgraph.json`. The server brings the checkpointer.

Ledger and checkpoints share the file that PLANNER_EXECUTOR_DB names.
"""

from planner_executor.graph.builder.graph_builder import build_graph
from planner_executor.graph.builder.server_tools import server_tools
from planner_executor.graph.checkpoints.checkpoint import database

graph = build_graph(**server_tools(), ledger=database())
