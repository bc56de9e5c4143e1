from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from planner_executor import Agent, build_graph
from planner_executor.graph.builder.options import GraphOptions
from planner_executor.graph.errors import ConfigError


@pytest.mark.parametrize("name", [*GraphOptions.__annotations__, "checkpointer", "ledger"])
def test_an_option_of_another_type_is_refused_by_its_name(name: str) -> None:
    wrong: Any = object()
    given: dict[str, Any] = {"checkpointer": InMemorySaver(), name: wrong}

    with pytest.raises(ConfigError, match="model" if name in ("planner", "executor", "replanner", "judge") else name):
        build_graph(**given)


@pytest.mark.parametrize("name", ["config", "policy", "time_zone", "name"])
@pytest.mark.parametrize("wrong", ["a\0b", "\ud800"])
def test_an_option_that_is_no_clean_text_is_refused_by_its_name(name: str, wrong: str) -> None:
    given: dict[str, Any] = {"checkpointer": InMemorySaver(), name: wrong}

    with pytest.raises(ConfigError, match=name):
        build_graph(**given)


def test_a_database_that_is_no_clean_text_is_refused() -> None:
    why = "the name of the database: text with a NUL character"
    with pytest.raises(ConfigError, match=why), Agent("a\0b"):
        pass
    with pytest.raises(ConfigError, match=why):
        build_graph(ledger="a\0b")


@pytest.mark.parametrize("name", ["timeout_s", "backoff_s"])
def test_a_limit_may_be_a_fraction_of_a_second_and_is_shown_as_a_number(name: str) -> None:
    given: dict[str, Any] = {name: 1.5}

    shown = build_graph(checkpointer=InMemorySaver(), **given).get_context_jsonschema() or {}

    form = shown["properties"][name]
    assert {key: form[key] for key in ("type", "default", "readOnly")} == {
        "type": "number",
        "default": 1.5,
        "readOnly": True,
    }
