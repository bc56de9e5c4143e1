"""Imports what most processes of the tests need, once; the fork server does it before it forks."""

import importlib
import pkgutil

import graph

for module in pkgutil.walk_packages(graph.__path__, "graph."):
    if module.name != "graph.studio":  # it makes a graph of what the environment says
        importlib.import_module(module.name)
for name in ("planner_executor", "tools.registry", "langchain_openai"):
    importlib.import_module(name)
