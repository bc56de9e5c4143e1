from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from graph import build_graph
from graph.testing import LoggedTools, ScriptedModel


@pytest.fixture
def saver() -> InMemorySaver:
    return InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))


@pytest.fixture
def tools() -> LoggedTools:
    return LoggedTools()


@pytest.fixture
def build(saver: InMemorySaver, tools: LoggedTools) -> Callable[..., Any]:
    """Build a graph whose planner answers from a script, with a reading, a writing and a failing tool."""

    def make(*answers: Any, **options: Any) -> Any:
        own = [
            tools.tool("search", lambda query: {"items": [query.upper()]}, effect="read"),
            tools.tool("write", lambda text: len(text), effect="write"),
            tools.tool("send", lambda to: f"sent to {to}"),
            tools.tool("broken", _raise, effect="read"),
        ]
        model = ScriptedModel(answers)
        graph = build_graph(model, **{"tools": own, "checkpointer": saver, **options})
        graph.model = model
        return graph

    return make


def _raise(**_: Any) -> None:
    raise ValueError("the service is down")
