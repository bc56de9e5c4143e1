"""What a `langgraph.json` of your own names: the graph, its checkpointer, its application and its `auth`."""

from planner_executor.graph.serving.auth import auth  # first: the server looks it up here while it imports the others

# isort: split
from planner_executor.graph.checkpoints.checkpoint import studio_checkpointer as checkpointer
from planner_executor.graph.server_app import app
from planner_executor.graph.studio import graph

__all__ = ["app", "auth", "checkpointer", "graph"]
