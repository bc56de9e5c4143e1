"""A planner-executor agent on LangGraph: explicit plans, binding approval, effects at most once, an audit ledger.

Importing this package is light; what a name needs is imported when the name is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graph.agent import Agent, AsyncAgent
    from graph.builder import build_graph
    from graph.chat_models.settings import ModelSettings
    from graph.errors import AgentError
    from graph.record.person import Person
    from graph.runs import Run
    from tools.errors import NothingHappened

__all__ = ["Agent", "AgentError", "AsyncAgent", "ModelSettings", "NothingHappened", "Person", "Run", "build_graph"]

_HOME = {
    "Agent": "graph.agent",
    "AgentError": "graph.errors",
    "AsyncAgent": "graph.agent",
    "ModelSettings": "graph.chat_models.settings",
    "NothingHappened": "tools.errors",
    "Person": "graph.record.person",
    "Run": "graph.runs",
    "build_graph": "graph.builder",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'graph' has no attribute {name!r}")
    _refuse_a_hidden_package()
    return getattr(import_module(_HOME[name]), name)


def _refuse_a_hidden_package() -> None:
    """A user's own `tools.py` that comes first on the import path would be loaded in place of our package."""
    from graph.errors import ShadowedPackageError
    from planner_executor import shadowing_file

    if found := shadowing_file("tools"):
        raise ShadowedPackageError("tools", str(found))


def __dir__() -> list[str]:
    return __all__
