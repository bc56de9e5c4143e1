"""What a client of a graph server may set, and what it may not."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from planner_executor import ModelSettings, build_graph, default_tools
from planner_executor.graph.builder.client_schema import context_schema
from planner_executor.graph.chat_models.roles import role_models
from planner_executor.graph.chat_models.settings import resolved
from planner_executor.graph.client_context import LIMITS, Context
from planner_executor.graph.errors import ConfigError, ModelConfigError
from planner_executor.graph.settings.settings import Settings
from planner_executor.graph.testing import on_thread

HERE = "http://127.0.0.1:9/v1"
PLANNER = ModelSettings(model="openai:p", base_url=HERE, api_key=SecretStr("sk-0123456789"))


def asked(context: dict[str, Any], **options: Any) -> Any:
    """Let the client plan with the embedded rules, under a context that names other models for other roles."""
    app = build_graph(**{"planner": PLANNER, **options})
    return app.invoke({"goal": "What is 1 + 1?"}, on_thread(), context={"planner": "offline", **context})


def test_a_client_cannot_send_the_server_elsewhere() -> None:
    with pytest.raises(ModelConfigError, match="the settings of this graph do not name the server"):
        asked({"model_settings": {"executor": {"base_url": "http://169.254.169.254/v1"}}})


def test_a_client_cannot_name_a_model_without_a_price_under_a_budget_of_costs() -> None:
    policy = {"prices": {"p": {"input": 1, "output": 1}, "offline": {"input": 0, "output": 0}}}

    with pytest.raises(ConfigError, match="the executor model q has no price"):
        asked(
            {"executor": "openai:q", "model_settings": {"executor": {"base_url": HERE}}},
            policy=policy,
            budget={"cost_usd": 1},
            client_models=["openai:q"],
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


THERE = "http://127.0.0.1:8/v1"
OTHER = ModelSettings(model="openai:o", base_url=THERE, api_key=SecretStr("sk-of-the-other"), timeout_s=20)


def chosen(context: dict[str, Any], role: str = "planner", **options: Any) -> ModelSettings:
    """Return how a role's model is asked under a client's context; no model is asked."""
    models = role_models({"planner": PLANNER, "executor": OTHER}, for_clients=options.get("client_models"))
    found = models.under(Context.model_validate(context).layer(models)).layers
    return resolved(found)[role]  # type: ignore[literal-required,no-any-return]


@pytest.mark.parametrize("role", ["planner", "executor", "replanner", "judge"])
def test_a_client_chooses_among_the_models_that_the_operator_names(role: str) -> None:
    for name in ("openai:other", "anthropic:p", "p"):
        with pytest.raises(ModelConfigError, match=r"clients may not choose it .* choose openai:p, openai:o"):
            chosen({role: name})

    assert chosen({role: "openai/o"}, role) == OTHER


def test_a_model_that_a_client_chooses_is_asked_where_and_with_the_key_that_the_operator_said() -> None:
    found = chosen({"planner": "openai:o", "model_settings": {"planner": {"temperature": 0.5}}})

    assert found == OTHER.model_copy(update={"temperature": 0.5})


def test_the_operator_may_offer_other_models_or_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    assert chosen({"planner": "openai:free"}, client_models=["openai:free"]).model == "openai:free"
    assert chosen({"planner": "openai:free"}, client_models=["*"]).model == "openai:free"
    with pytest.raises(ModelConfigError, match="choose openai:free, offline, openai:p, or"):
        chosen({"planner": "openai:o"}, client_models=["openai:free"])
    monkeypatch.setenv("PLANNER_EXECUTOR_CLIENT_MODELS", "openai:free, openai:o")
    assert chosen({"planner": "openai:free"}).model == "openai:free"


def test_the_embedded_rules_may_be_chosen_but_not_as_a_judge() -> None:
    assert chosen({"planner": "offline"}).model == "offline"
    with pytest.raises(ModelConfigError, match="for the judge"):
        chosen({"judge": "offline"})


@pytest.mark.parametrize(("role", "most"), [("planner", 300), ("executor", 20)])
def test_a_client_waits_no_longer_than_the_operator(role: str, most: float) -> None:
    assert chosen({"model_settings": {role: {"timeout_s": most}}}, role).timeout_s == most
    with pytest.raises(ModelConfigError, match=f"set {most:g} at most"):
        chosen({"model_settings": {role: {"timeout_s": most + 1}}}, role)


@pytest.mark.parametrize("name", ["max_concurrency", "max_replans", "max_repairs"])
def test_a_client_can_lower_a_limit_and_not_raise_it(name: str) -> None:
    own = Settings(max_concurrency=3, max_replans=3, max_repairs=3)

    assert [Context.model_validate({name: value}).limits(own) for value in (1, 3)] == [{name: 1}, {name: 3}]
    with pytest.raises(ConfigError, match=f"{name}=4 is more than this graph allows; set 3 at most"):
        Context.model_validate({name: 4}).limits(own)
    with pytest.raises(ConfigError, match="more than this graph allows"):
        build_graph("offline", **{name: 3}).invoke({"goal": "What is 1 + 1?"}, on_thread(), context={name: 4})


def test_a_form_shows_every_setting_with_the_value_in_force_as_a_plain_type() -> None:
    graph = build_graph(
        ModelSettings(model="openai:p", temperature=0.5, base_url=HERE, api_key=SecretStr("sk-0123456789")),
        approval="side_effects",
        max_concurrency=3,
        budget={"tool_calls": 20},
        client_models=["openai:q"],
    )
    schema = graph.get_context_jsonschema() or {}
    form = schema["properties"]

    assert set(form) == set(Context.model_fields)
    assert all("anyOf" not in field for field in form.values())
    assert form["planner"]["default"] == "openai:p" and form["planner"]["enum"] == ["openai:q", "offline", "openai:p"]
    assert form["model_settings"]["default"]["planner"] == {"temperature": 0.5}
    limit = form["max_concurrency"]
    assert (limit["type"], limit["minimum"], limit["maximum"], limit["default"]) == ("integer", 1, 3, 3)
    assert form["approval"]["enum"] == ["side_effects"] and form["approval"]["readOnly"]
    assert form["record_prompts"] | {"title": "", "description": "", "langgraph_nodes": []} == {
        "type": "boolean", "enum": [True], "default": True, "readOnly": True,
        "title": "", "description": "", "langgraph_nodes": [],
    }  # fmt: skip
    assert form["budget"]["default"] == {"tool_calls": 20}
    assert "127.0.0.1" not in str(schema) and "sk-" not in str(schema)


def test_a_form_that_is_sent_as_it_was_shown_changes_nothing() -> None:
    models = role_models({"planner": PLANNER, "executor": OTHER})
    form = context_schema(own := Settings(max_replans=1), models)
    shown = {
        name: told["default"] for name, told in form.model_json_schema()["properties"].items() if "default" in told
    }
    sent = form.model_validate(shown)

    assert {"approval", "max_replans", "planner"} <= set(shown)
    assert models.under(sent.layer(models)) is models
    assert sent.limits(own) == {name: getattr(own, name) for name in LIMITS}


def test_a_client_may_choose_any_model_in_words_if_the_operator_offers_any() -> None:
    form = context_schema(Settings(), role_models({"planner": PLANNER}, for_clients=["*"])).model_json_schema()

    assert "enum" not in form["properties"]["planner"] and form["properties"]["planner"]["default"] == "openai:p"


@pytest.mark.parametrize(("name", "value"), [("approval", "never"), ("replan", "every_step"), ("budget", {"steps": 9})])
def test_a_setting_of_the_operator_is_shown_and_not_changed(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"{name}=.* is not for a client to choose; this graph has"):
        Context.model_validate({name: value}).limits(Settings())


@pytest.mark.parametrize(("name", "hint"), [("approvel", "did you mean approval?"), ("x", "use one of planner, ")])
def test_a_setting_that_does_not_exist_is_refused_with_the_names_that_do(name: str, hint: str) -> None:
    app = build_graph(PLANNER)
    for work in (app.stream, app.astream):
        with pytest.raises(ConfigError) as refused:
            work({"goal": "g"}, on_thread(), context={name: 1})
        assert str(refused.value).startswith(f"the context has no setting {name!r}; {hint}")
