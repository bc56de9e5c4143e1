"""The graph of `langgraph.json`, with a budget of one call."""

from planner_executor import build_graph
from planner_executor.graph.builder.server_tools import server_tools
from planner_executor.graph.checkpoints.checkpoint import database

graph = build_graph(**server_tools(), ledger=database(), budget={"tool_calls": 1})
