"""`planner-executor models check`, against a scripted server."""

from typing import Any

import pytest
from typer.testing import CliRunner

from planner_executor.graph.cli import app


def check(*args: str) -> tuple[int, str]:
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["models", "check", *args])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def rows(output: str) -> list[list[str]]:
    return [[part.strip() for part in line.split("  ") if part.strip()] for line in output.splitlines()[1:]]


@pytest.fixture
def model(aimock: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PLANNER_EXECUTOR_PLANNER", "openai:scripted-model")
    monkeypatch.setenv("PLANNER_EXECUTOR_PLANNER_BASE_URL", aimock.base_url)
    monkeypatch.setenv("PLANNER_EXECUTOR_PLANNER_API_KEY", aimock.key)
    return aimock


def test_each_model_is_asked_once_for_all_its_roles(model: Any) -> None:
    model.any(model.calls("note", word="ok"), model.says({"word": "ok"}))

    code, output = check()

    ((roles, name, answers, *able),) = rows(output)
    assert (code, roles, name, able) == (0, "planner, executor, replanner", "scripted-model", ["yes", "yes", "yes"])
    assert answers.startswith("in ") and len(model.requests) == 2


def test_a_model_that_can_only_answer_with_text_is_told_so(model: Any) -> None:
    model.any(model.says("ok"), model.says("ok"))

    _, output = check()

    assert rows(output)[0][3:] == ["no", "no", "yes"]


def test_a_model_that_fails_is_told_with_the_reason_and_ends_with_2(model: Any) -> None:
    model.any(model.fails(404, "no model of that name"))

    code, output = check("--executor", "offline")

    assert code == 2
    assert rows(output)[0][:2] == ["planner, replanner", "scripted-model"] and "no model of that name" in output
    assert rows(output)[1][:2] == ["executor", "offline"]


def test_a_model_that_cannot_be_made_is_one_sentence() -> None:
    code, output = check("--planner", "anthropic:claude")

    assert code == 2 and "pip install langchain-anthropic" in output
