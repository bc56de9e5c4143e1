"""What people hear of a run that a command drives."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result
from webhook_receiver import Receiver, receiver, settings

Cli = Callable[..., Result]

ASKS = {"steps": [{"id": "who", "objective": "Ask", "ask": "Who is it for?"}], "answer": "{who_result}"}


def kinds(ops: Receiver) -> list[str]:
    return [json.loads(body)["kind"] for _, body in ops.got]


@pytest.mark.parametrize(
    ("plan", "options", "told"),
    [
        ("plan.json", ["--yes"], ["ended"]),
        ("plan.json", [], ["waits"]),
        ("ask.json", ["--yes"], ["waits"]),  # the question needs a person
        ("ask.json", [], ["waits"]),
    ],
)
def test_people_hear_of_no_request_that_yes_answers(
    cli: Cli, folder: Path, plan: str, options: list[str], told: list[str]
) -> None:
    (folder / "ask.json").write_text(json.dumps(ASKS))
    with receiver() as ops:
        cli("run", "go", "--plan", plan, "--config", str(settings(folder, ops.url)), *options)
        assert kinds(ops) == told
        asked = [json.loads(body)["asks"] for _, body in ops.got]
        if plan == "ask.json" and options:
            assert asked == [["run_plan", "answer_question"]]


def test_a_plan_that_yes_may_not_approve_is_announced_once(cli: Cli, folder: Path) -> None:
    (folder / "policy.toml").write_text('[approvers]\nnames = ["ada@example.org"]\n')
    with receiver() as ops:
        given = ["--config", str(settings(folder, ops.url)), "--policy", "policy.toml"]
        cli("run", "go", "--plan", "plan.json", "--yes", *given)
        assert kinds(ops) == ["waits"]
