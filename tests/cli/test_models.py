"""What the command line says about models, and what a run remembers of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from planner_executor.graph.cli.model_options import models_from_options
from planner_executor.graph.cli.setup import Setup
from planner_executor.graph.errors import InputError, ModelConfigError

Cli = Callable[..., Result]


def plain(*sets: str, **names: str | None) -> dict[str, Any]:
    return {role: said.explicit for role, said in models_from_options(names, sets).items()}  # type: ignore[union-attr]


def test_a_flag_names_a_model_and_set_says_how_it_is_asked() -> None:
    said = plain(
        "planner.temperature=0.2", "executor.options.seed=7", 'planner.fallbacks=["a:b"]', planner="a:p", judge=None
    )

    assert said["planner"] == {"model": "a:p", "temperature": 0.2, "fallbacks": said["planner"]["fallbacks"]}
    assert said["executor"] == {"options": {"seed": 7}}


def test_a_further_executor_is_set_by_its_name() -> None:
    said = plain("executor.cheap.model=openai:gpt-5-nano", "executor.cheap.temperature=0", "executor.temperature=1")

    assert said == {
        "executor.cheap": {"model": "openai:gpt-5-nano", "temperature": 0},
        "executor": {"temperature": 1},
    }


@pytest.mark.parametrize(
    "entry",
    [
        "planner",
        "planner=a:b",
        "plan.temperature=1",
        "planner.=1",
        "planner.api_key=k",
        "executor.cheap.api_key=k",
        "planner.a.b=1",
        "planner.heat=1",
        "planner.temperature=hot",
    ],
)
def test_what_cannot_be_set_is_refused(entry: str) -> None:
    with pytest.raises(InputError):
        plain(entry)


def test_a_name_that_no_step_could_give_is_refused() -> None:
    with pytest.raises(ModelConfigError):
        plain("executor.1.model=a:b")


def test_a_run_remembers_what_all_places_say_but_no_key(
    cli: Cli, latest: Callable[[], str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "planner-executor.toml").write_text(
        '[models.executor]\ntemperature = 0.5\noptions = { default_headers = { X-Key = "k-0123456789" }, seed = 7 }\n'
    )
    cli("trust", "--yes")
    monkeypatch.setenv("PLANNER_EXECUTOR_JUDGE", "offline")
    monkeypatch.setenv("PLANNER_EXECUTOR_PLANNER_API_KEY", "sk-0123456789")

    cli("run", "add", "--plan", "plan.json", "--planner", "offline", "--set", "executor.cheap.model=offline")

    assert json.loads(cli("show", latest(), "--json").stdout)["setup"]["models"] == {
        "planner": {"model": "offline"},
        "executor": {"temperature": 0.5, "options": {"seed": 7}},
        "judge": {"model": "offline"},
        "executor.cheap": {"model": "offline"},
    }
    assert not [path for path in folder.glob("*.db*") if b"0123456789" in path.read_bytes()]


def test_resuming_uses_what_is_remembered_completed_by_the_place_that_has_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {"models": {"planner": {"model": "openai:p", "base_url": "http://127.0.0.1:9/v1"}}}
    monkeypatch.setenv("PLANNER_EXECUTOR_PLANNER", "openai:p")
    monkeypatch.setenv("PLANNER_EXECUTOR_PLANNER_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("PLANNER_EXECUTOR_PLANNER_API_KEY", "sk-0123456789")

    setup = (
        Setup.default()
        .from_record(before)
        .changed(models=models_from_options({"planner": None}, ["planner.temperature=0.3"]))
    )
    model: Any = setup.role_models.planner.chats[0].model

    assert (model.temperature, model.openai_api_key.get_secret_value()) == (0.3, "sk-0123456789")


def test_naming_another_model_on_resume_leaves_the_rest_behind() -> None:
    before = {"models": {"planner": {"model": "openai:p", "base_url": "http://127.0.0.1:9/v1"}}}

    setup = Setup.default().from_record(before).changed(models=models_from_options({"planner": "offline"}, []))

    assert setup.role_models.planner.name == "offline"
