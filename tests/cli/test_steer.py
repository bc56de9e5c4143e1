import json
from collections.abc import Callable

import pytest
from typer.testing import Result

Cli = Callable[..., Result]


def test_a_constraint_is_added_and_what_was_asked_before_is_open_no_more(cli: Cli, waiting: str) -> None:
    result = cli("steer", waiting, "be quick")

    told = json.loads(cli("show", waiting, "--json").stdout)
    assert result.exit_code == 0 and "the user added: be quick" in result.stdout
    assert told["constraints"] == ["be quick"] and told["status"] != "waiting"
    assert cli("resume", waiting, "--approve").exit_code == 2


def test_a_run_that_was_steered_plans_again_when_it_is_resumed(cli: Cli, latest: Callable[[], str]) -> None:
    cli("run", "What is 2 + 2?")
    run = latest()

    cli("steer", run, "--feedback", "say it in words")
    result = cli("resume", run)

    assert "say it in words" in cli("audit", run).stdout
    assert result.exit_code in (1, 3) and json.loads(cli("show", run, "--json").stdout)["status"] != "paused"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([], "no change given"),
        (["--withdraw", "be slow"], "no constraint 'be slow'; there are none"),
        ([" "], "the text is blank"),
    ],
)
def test_what_cannot_be_changed_is_said(cli: Cli, waiting: str, words: list[str], part: str) -> None:
    result = cli("steer", waiting, *words)

    assert result.exit_code == 2 and part in result.stderr + result.stdout


def test_a_run_that_has_ended_is_not_steered(cli: Cli, waiting: str) -> None:
    cli("resume", waiting, "--approve")

    assert cli("steer", waiting, "be quick").exit_code == 2
