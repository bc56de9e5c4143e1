"""The environment and the settings file."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from planner_executor.graph.chat_models.settings import ModelSettings
from planner_executor.graph.chat_models.sources import from_environment, from_file, sources
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.settings.trust import trust

TABLES = """
[models]
planner = "openai:gpt-5"

[models.executor]
model = "openai:qwen3:8b"
base_url = "http://localhost:11434/v1"
temperature = 0.2
fallbacks = ["openai:gpt-5-mini", { model = "openai:gpt-5-nano", timeout_s = 5 }]
options = { seed = 7 }

[models.executors]
cheap = "openai:gpt-5-nano"

[policy]
"""


def test_nothing_is_said_where_nothing_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert sources(None) == [{}, {}]


def test_variables_name_models_and_how_they_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_EXECUTOR_PLANNER", "openai:gpt-5")
    monkeypatch.setenv("PLANNER_EXECUTOR_EXECUTOR_BASE_URL", "http://localhost:8000/v1")
    monkeypatch.setenv("PLANNER_EXECUTOR_EXECUTOR_TEMPERATURE", "0.5")
    monkeypatch.setenv("PLANNER_EXECUTOR_EXECUTOR_API_KEY", "k-0123456789")
    monkeypatch.setenv("PLANNER_EXECUTOR_EXECUTOR_OPTIONS", '{"seed": 7}')
    monkeypatch.setenv("PLANNER_EXECUTOR_JUDGE", "")
    monkeypatch.setenv("PLANNER_EXECUTOR_DB", "runs.db")
    monkeypatch.setenv("PLANNER_EXECUTOR_EXECUTORS", '{"cheap": "openai:gpt-5-nano", "cool": {"temperature": 0.1}}')

    assert from_environment() == {
        "planner": ModelSettings(model="openai:gpt-5"),
        "executor": ModelSettings(
            base_url="http://localhost:8000/v1", temperature=0.5, api_key=SecretStr("k-0123456789"), options={"seed": 7}
        ),
        "executor.cheap": ModelSettings(model="openai:gpt-5-nano"),
        "executor.cool": ModelSettings(temperature=0.1),
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PLANNER_EXECUTOR_PLANNER_TEMPERATURE", "hot-value"),
        ("PLANNER_EXECUTOR_PLANNER_TEMPRATURE", "0"),
        ("PLANNER_EXECUTOR_PLANNER_OPTIONS", "{hot-value"),
        ("PLANNER_EXECUTOR_PLANNER_BASE_URL", "hot-value"),
        ("PLANNER_EXECUTOR_EXECUTORS", '{"cheap": {"api_kee": "hot-value"}}'),
        ("PLANNER_EXECUTOR_EXECUTORS", "hot-value"),
    ],
)
def test_a_variable_that_cannot_be_is_named_and_its_value_is_not(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(ConfigError, match="PLANNER_EXECUTOR_") as caught:
        from_environment()

    assert "hot-value" not in str(caught.value)


def test_a_file_has_names_and_tables(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(TABLES)

    assert from_file(tmp_path / "own.toml") == {
        "planner": ModelSettings(model="openai:gpt-5"),
        "executor": ModelSettings(
            model="openai:qwen3:8b",
            base_url="http://localhost:11434/v1",
            temperature=0.2,
            fallbacks=(
                ModelSettings(model="openai:gpt-5-mini"),
                ModelSettings(model="openai:gpt-5-nano", timeout_s=5),
            ),
            options={"seed": 7},
        ),
        "executor.cheap": ModelSettings(model="openai:gpt-5-nano"),
    }


def test_the_file_is_the_one_given_else_the_one_the_environment_names_else_the_one_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("planner-executor", "named", "given"):
        (tmp_path / f"{name}.toml").write_text(f'[models]\nplanner = "a:{name}"')
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    trust(tmp_path / "planner-executor.toml", (tmp_path / "planner-executor.toml").read_bytes())
    there = from_file(None)
    monkeypatch.setenv("PLANNER_EXECUTOR_CONFIG", "named.toml")

    assert [place["planner"].model for place in (there, from_file(None), from_file("given.toml"))] == [  # type: ignore[union-attr]
        "a:planner-executor",
        "a:named",
        "a:given",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[models]\nplaner = "a:b"', "line 2: models.planer is unknown; did you mean planner?"),
        (
            '[models.planner]\nmodel = "a:b"\napi_kee = "hot-value"',
            "line 3: models.planner.api_kee is unknown; did you mean api_key?",
        ),
        ("[models.planner]\ntemperature = 'hot-value'", "line 2: models.planner.temperature must be a valid number"),
        ("[models", "at the end of"),
        ("models = 3", "models"),
    ],
)
def test_a_file_that_cannot_be_is_named_with_the_place_and_without_values(
    tmp_path: Path, text: str, words: str
) -> None:
    (tmp_path / "own.toml").write_text(text)

    with pytest.raises(ConfigError) as caught:
        from_file(tmp_path / "own.toml")

    assert str(tmp_path / "own.toml") in str(caught.value) and words in str(caught.value)
    assert "hot-value" not in str(caught.value)


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        from_file(tmp_path / "none.toml")


def test_the_case_of_a_variable_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("planner_executor_judge_timeout_s", "5")

    found = sources(None)[0]["judge"]

    assert isinstance(found, ModelSettings) and found.timeout_s == 5
