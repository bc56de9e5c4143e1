"""Imports what most processes of the tests need, once; the fork server does it before it forks."""

import importlib
import pkgutil

import planner_executor.graph as graph

for module in pkgutil.walk_packages(graph.__path__, "planner_executor.graph."):
    if module.name != "planner_executor.graph.studio":  # it makes a graph of what the environment says
        importlib.import_module(module.name)
for name in ("planner_executor.command", "planner_executor.tools.registry", "langchain_openai"):
    importlib.import_module(name)
