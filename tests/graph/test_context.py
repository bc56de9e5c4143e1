"""What a client of a graph server may set, and what it may not."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from graph import ModelSettings, build_graph
from graph.context import Context
from graph.errors import ConfigError, ModelConfigError
from graph.testing import on_thread
from tools import default_tools

HERE = "http://127.0.0.1:9/v1"
PLANNER = ModelSettings(model="openai:p", base_url=HERE, api_key=SecretStr("sk-0123456789"))


def asked(context: dict[str, Any], **options: Any) -> Any:
    """Let the client plan with the embedded rules, under a context that names other models for other roles."""
    app = build_graph(**{"planner": PLANNER, **options})
    return app.invoke({"goal": "What is 1 + 1?"}, on_thread(), context={"planner": "offline", **context})


def test_a_client_cannot_send_the_server_elsewhere() -> None:
    with pytest.raises(ModelConfigError, match="is no server that this graph's settings name"):
        asked({"model_settings": {"executor": {"base_url": "http://169.254.169.254/v1"}}})


def test_a_client_cannot_name_a_model_without_a_price_under_a_budget_of_costs() -> None:
    policy = {"prices": {"p": {"input": 1, "output": 1}, "offline": {"input": 0, "output": 0}}}

    with pytest.raises(ConfigError, match="the executor model q has no price"):
        asked(
            {"executor": "openai:q", "model_settings": {"executor": {"base_url": HERE}}},
            policy=policy,
            budget={"cost_usd": 1},
        )


@pytest.mark.parametrize(
    "settings",
    [{"api_key": "k"}, {"api_key_env": "HOME"}, {"options": {"default_headers": {}}}, {"fallbacks": ["a:b"]}],
)
def test_a_client_can_set_no_key_and_nothing_that_may_hold_one(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Context.model_validate({"model_settings": {"planner": settings}})


def test_a_client_sees_what_it_may_set() -> None:
    schema = build_graph().get_context_jsonschema() or {}

    assert {"planner", "executor", "replanner", "judge", "model_settings"} <= set(schema["properties"])
    assert set(schema["$defs"]["ClientSettings"]["properties"]) == {"temperature", "timeout_s", "base_url", "options"}


@pytest.mark.parametrize("named", [None, "own.toml"])
def test_no_tool_can_write_the_settings_that_decide_where_keys_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text("")

    with pytest.raises(ConfigError, match="can write"):
        build_graph(tools=default_tools(documents=tmp_path, workspace=tmp_path), config=named)
