"""What places say about models, and which of them is heard."""

from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr, ValidationError

from planner_executor.graph.chat_models.settings import ClientSettings, Layer, ModelSettings, layer, resolved
from planner_executor.graph.errors import ModelConfigError
from planner_executor.graph.testing import ScriptedModel

KEY = SecretStr("sk-0123456789")
LOCAL = "http://localhost:11434/v1"


def model_of(said: Any) -> Any:
    return said if isinstance(said, BaseChatModel) or said is None else said.model


@pytest.mark.parametrize(
    ("layers", "models"),
    [
        ([], ("offline", "offline", "offline", None)),
        ([{"planner": "a:p"}], ("a:p", "a:p", "a:p", None)),
        ([{"planner": "a:p", "executor": "a:e"}], ("a:p", "a:e", "a:p", None)),
        ([{"executor": "a:e"}, {"planner": "b:p", "executor": "b:e"}], ("b:p", "a:e", "b:p", None)),
        ([{"planner": "a:p"}, {"planner": "b:p", "executor": "b:e"}], ("a:p", "b:e", "a:p", None)),
        ([{"judge": "a:j"}], ("offline", "offline", "offline", "a:j")),
    ],
)
def test_the_strongest_place_is_heard_and_roles_follow_the_planner(layers: list[Any], models: tuple[Any, ...]) -> None:
    found = resolved([layer(place) for place in layers])

    assert tuple(model_of(found[role]) for role in ("planner", "executor", "replanner", "judge")) == models  # type: ignore[literal-required]


def test_a_stronger_place_changes_what_it_says_and_nothing_else() -> None:
    weak = ModelSettings(model="a:p", temperature=0.5, base_url=LOCAL, api_key=KEY, options={"seed": 1, "top_p": 0.5})
    strong = ModelSettings(temperature=0.0, options={"seed": 2})

    assert strong.over(weak).explicit == {**weak.explicit, "temperature": 0.0, "options": {"seed": 2, "top_p": 0.5}}


def test_naming_the_same_model_again_keeps_how_it_is_asked() -> None:
    weak = ModelSettings(model="a:p", base_url=LOCAL, api_key=KEY)

    assert ModelSettings(model="a:p", base_url=LOCAL, temperature=0.2).over(weak).api_key == KEY


def test_another_model_starts_afresh() -> None:
    weak = ModelSettings(model="a:p", base_url=LOCAL, api_key=KEY, temperature=0.5)

    assert ModelSettings(model="a:q").over(weak) == ModelSettings(model="a:q")


def test_a_key_does_not_go_to_another_server() -> None:
    weak = ModelSettings(model="a:p", base_url=LOCAL, api_key=KEY, options={"default_headers": {"X-Key": "k"}})

    found = ModelSettings(base_url="http://elsewhere/v1").over(weak)

    assert found.explicit == {"model": "a:p", "base_url": "http://elsewhere/v1"}


def test_a_role_may_be_asked_otherwise_than_the_planner_whose_model_it_has() -> None:
    places: list[Layer] = [
        {"planner": ModelSettings(model="a:p", base_url=LOCAL), "executor": ModelSettings(temperature=0.7)}
    ]

    assert resolved(places)["executor"] == ModelSettings(model="a:p", base_url=LOCAL, temperature=0.7)


def test_further_executors_have_names_and_are_asked_as_the_executor_is_where_they_say_nothing() -> None:
    places = [
        layer({"executor": ModelSettings(model="a:e", base_url=LOCAL)}, {"cool": ModelSettings(temperature=0.1)}),
        layer({}, {"cool": ModelSettings(temperature=0.9), "cheap": "b:c"}),
    ]

    assert resolved(places)["executors"] == {
        "cool": ModelSettings(model="a:e", base_url=LOCAL, temperature=0.1),
        "cheap": ModelSettings(model="b:c"),
    }


@pytest.mark.parametrize("name", ["", "a.b", "1", "model", "temperature", "a b"])
def test_an_executors_name_can_be_said_everywhere(name: str) -> None:
    with pytest.raises(ModelConfigError, match="an executor's name"):
        layer({}, {name: "a:b"})


def test_a_chat_model_in_python_is_used_as_it_is() -> None:
    model = ScriptedModel([])

    assert resolved([layer({"planner": model}), layer({"planner": "a:p"})])["executor"] is model


@pytest.mark.parametrize(
    "layers",
    [
        [{"judge": ModelSettings(temperature=0.5)}],
        [{"planner": ModelSettings(temperature=0.5)}, {"planner": ScriptedModel([])}],
    ],
)
def test_settings_without_a_model_to_ask_are_refused(layers: list[Any]) -> None:
    with pytest.raises(ModelConfigError, match="name"):
        resolved(layers)


@pytest.mark.parametrize("odd", [7, ["a:p"], {"model": "a:p"}])
def test_what_is_no_model_is_refused(odd: Any) -> None:
    with pytest.raises(ModelConfigError, match="give a name"):
        layer({"planner": odd})


@pytest.mark.parametrize(
    "given",
    [
        {"temperature": -1},
        {"timeout_s": 0},
        {"base_url": "localhost:8000"},
        {"base_url": "http://user:secret@host/v1"},
        {"base_url": "http://host/v1?api-key=secret"},
        {"max_attempts": 0},
        {"requests_per_second": 0},
        {"fallbacks": [{"temperature": 1}]},
        {"fallbacks": [{"model": "a:b", "fallbacks": ["a:c"]}]},
        {"temprature": 0},
    ],
)
def test_values_that_cannot_be_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        ModelSettings.model_validate({"model": "a:p", **given})

    assert "secret" not in str(caught.value)


def test_keys_and_what_may_hold_them_are_neither_shown_nor_written_down() -> None:
    said = ModelSettings(
        model="a:p",
        api_key=KEY,
        api_key_env="A_KEY",
        base_url=LOCAL,
        options={"default_headers": {"Authorization": "Bearer abcdefghijk"}, "top_p": 0.5},
        fallbacks=(ModelSettings(model="a:q", api_key=KEY),),
    )

    assert "0123456789" not in repr(said) and "abcdefghijk" not in repr(said)
    assert said.without_secrets() == {
        "model": "a:p",
        "api_key_env": "A_KEY",
        "base_url": LOCAL,
        "options": {"top_p": 0.5},
        "fallbacks": [{"model": "a:q"}],
    }


def test_what_was_written_down_is_completed_by_the_place_that_has_the_key() -> None:
    whole = ModelSettings(model="a:p", api_key=KEY, base_url=LOCAL, options={"default_headers": {"X-Key": "k"}})

    known = ModelSettings.model_validate(whole.without_secrets())

    assert known.over(whole) == whole


def test_a_client_can_shape_an_answer_and_lead_nowhere() -> None:
    assert ClientSettings(options={"top_p": 0.5}).options == {"top_p": 0.5}
    with pytest.raises(ValidationError, match="a client cannot set default_headers"):
        ClientSettings(options={"default_headers": {}})
    with pytest.raises(ValidationError):
        ClientSettings.model_validate({"api_key": "k"})
