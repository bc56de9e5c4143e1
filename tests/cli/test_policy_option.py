"""`--policy FILE` and `--budget NAME=VALUE`: what a run may do and spend."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

Cli = Callable[..., Result]

TWICE = {
    "steps": [
        {"id": "a", "objective": "Add", "tool": "calculator", "args": {"expression": "1 + 1"}},
        {"id": "b", "objective": "Add", "tool": "calculator", "args": {"expression": "{a_result} + 1"}},
    ]
}


@pytest.fixture(autouse=True)
def no_policy_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANNER_EXECUTOR_POLICY", raising=False)
    monkeypatch.delenv("PLANNER_EXECUTOR_CONFIG", raising=False)


@pytest.fixture
def policy(folder: Path) -> Path:
    """Return a policy under which nothing is written."""
    file = folder / "policy.toml"
    file.write_text('approval = "side_effects"\n\n[effects]\nwrite = "deny"\n')
    return file


def test_what_the_policy_denies_is_refused_before_anything_runs(cli: Cli, policy: Path) -> None:
    result = cli("run", "add", "--plan", "plan.json", "--policy", policy.name, "--yes")

    assert result.exit_code == 1
    assert "the policy denies write_report" in result.stdout


def test_the_policy_says_which_plans_need_a_person_and_the_option_only_asks_more(
    cli: Cli, policy: Path, folder: Path
) -> None:
    (folder / "plan.json").write_text(json.dumps(TWICE))

    assert cli("run", "add", "--plan", "plan.json", "--policy", policy.name).exit_code == 0
    assert cli("run", "add", "--plan", "plan.json", "--policy", policy.name, "--approval", "never").exit_code == 0
    assert cli("run", "add", "--plan", "plan.json", "--policy", policy.name, "--approval", "always").exit_code == 3


def test_a_run_remembers_its_policy_and_resumes_under_it(
    cli: Cli, policy: Path, waiting: str, latest: Callable[[], str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    policy.write_text('[tools.write_report]\nverdict = "review"\n')
    cli("run", "add", "--plan", "plan.json", "--policy", policy.name)
    run = latest()
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")

    assert json.loads(cli("show", run, "--json", "--db", "../planner-executor.db").stdout)["setup"]["policy"] == str(
        policy
    )
    policy.write_text('[tools.write_report]\nverdict = "deny"\n')
    result = cli("resume", run, "--approve", "--db", "../planner-executor.db")

    assert result.exit_code != 0
    assert not (folder / "workspace").exists()


@pytest.mark.parametrize("place", ["environment", "settings file"])
def test_the_policy_may_be_named_by_the_environment_or_the_settings_file(
    cli: Cli, policy: Path, place: str, monkeypatch: pytest.MonkeyPatch, folder: Path, latest: Callable[[], str]
) -> None:
    if place == "environment":
        monkeypatch.setenv("PLANNER_EXECUTOR_POLICY", policy.name)
    else:
        (folder / "planner-executor.toml").write_text('policy = "policy.toml"\n')
        cli("trust", "--yes")

    result = cli("run", "add", "--plan", "plan.json", "--yes")

    assert result.exit_code == 1
    assert "the policy denies write_report" in result.stdout
    assert json.loads(cli("show", latest(), "--json").stdout)["setup"]["policy"] == str(policy)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('approval = "sometimes"', "policy.toml, line 1: approval is 'sometimes'"),
        ('\n[effects]\nwrites = "deny"', "policy.toml, line 3: effects.writes is unknown"),
        ("approval", "policy.toml: not valid TOML"),
        (None, "policy.toml: cannot be read: No such file or directory; name one that is there"),
    ],
)
def test_a_policy_that_is_not_understood_starts_nothing(cli: Cli, policy: Path, text: str | None, words: str) -> None:
    policy.write_text(text) if text is not None else policy.unlink()

    result = cli("run", "add", "--plan", "plan.json", "--policy", policy.name)

    assert (result.exit_code, words in result.stderr) == (2, True)
    assert cli("runs").stdout.splitlines()[1:] == []


def test_an_unknown_table_of_the_settings_file_is_refused(cli: Cli, folder: Path) -> None:
    (folder / "planner-executor.toml").write_text('polcy = "policy.toml"\n')

    result = cli("run", "add", "--plan", "plan.json")

    assert (result.exit_code, "polcy is unknown" in result.stderr) == (2, True)


def test_a_run_stops_at_its_budget_and_asks(cli: Cli, folder: Path, latest: Callable[[], str]) -> None:
    (folder / "plan.json").write_text(json.dumps(TWICE))

    result = cli("run", "add", "--plan", "plan.json", "--budget", "tool_calls=1", "--yes")

    assert result.exit_code == 3
    assert "limit of tool_calls is reached" in result.stdout
    assert "budget" not in json.loads(cli("show", latest(), "--json").stdout)["setup"], "the ledger has it"


def test_the_budget_of_a_run_is_the_one_it_was_started_with(cli: Cli, folder: Path, latest: Callable[[], str]) -> None:
    (folder / "plan.json").write_text(json.dumps(TWICE))
    cli("run", "add", "--plan", "plan.json", "--budget", "calls.calculator=1", "--budget", "wall_s=60.5")

    result = cli("resume", latest(), "--approve")

    assert (result.exit_code, "limit of calls.calculator is reached" in result.stdout) == (3, True)
    events: list[Any] = json.loads(cli("audit", latest(), "--json").stdout)["events"]
    assert [event["payload"]["budget"] for event in events if event["kind"] == "run_started"] == [
        {"wall_s": 60.5, "calls": {"calculator": 1}}
    ]
    assert not [event for event in events if event["kind"] == "configured"], "nothing is configured otherwise"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("tool_calls", "is not NAME=VALUE"),
        ("tool_calls=many", "'many' is not a number"),
        ("tool_calls=1.5", "tool_calls must be an integer"),
        ("tool_call=1", "tool_call is not a limit of a budget"),
        ("tool_calls=-1", "tool_calls must be an integer >= 0"),
    ],
)
def test_a_budget_that_is_none_is_a_sentence(cli: Cli, entry: str, words: str) -> None:
    result = cli("run", "add", "--plan", "plan.json", "--budget", entry)

    assert (result.exit_code, "--budget: " in result.stderr, words in result.stderr) == (2, True, True)
