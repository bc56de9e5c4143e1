import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from planner_executor.graph.cli.command_line import command
from planner_executor.graph.cli.given_options import given_options

Cli = Callable[..., Result]


def told(cli: Cli, run: str) -> dict:
    return json.loads(cli("show", run, "--json").stdout)


def test_an_approval_runs_the_plan_that_waits(cli: Cli, waiting: str) -> None:
    result = cli("resume", waiting, "--approve")

    assert result.exit_code == 0
    assert "it is 42" in result.stdout


def test_bare_resume_shows_the_open_review_and_waits(cli: Cli, waiting: str) -> None:
    result = cli("resume", waiting)

    assert result.exit_code == 3
    assert "Digest: " in result.stdout
    assert f"planner-executor resume {waiting} --approve" in result.stdout


def test_an_approval_for_another_digest_approves_nothing(cli: Cli, waiting: str) -> None:
    assert cli("resume", waiting, "--approve", "--digest", "0123456789ab").exit_code == 2
    assert told(cli, waiting)["status"] == "waiting"

    digest = told(cli, waiting)["digest"]
    assert cli("resume", waiting, "--approve", "--digest", digest[:12]).exit_code == 0


def test_an_approval_under_other_settings_is_refused_and_the_request_under_them_is_shown(
    cli: Cli, waiting: str, folder: Path
) -> None:
    (folder / "limited.toml").write_text("[limits]\ntool_calls = 9")

    result = cli("resume", waiting, "--approve", "--policy", "limited.toml")

    cause = "the terms are stricter: policy: on record limits.tool_calls is higher or not set"
    assert (
        result.exit_code == 2 and cause in result.stderr and f"{waiting} waits with the request above" in result.stderr
    )
    assert "Left of the budget: 9 tool calls" in result.stdout
    assert cli("resume", waiting, "--approve", "--policy", "limited.toml").exit_code == 0


def test_a_bare_rejection_ends_the_run(cli: Cli, waiting: str, folder: Path) -> None:
    result = cli("resume", waiting, "--reject")

    assert result.exit_code == 1
    assert "rejected" in result.stdout
    assert not (folder / "workspace").exists()


@pytest.mark.parametrize("words", [["--reject", "What is 6 * 7?"], ["--feedback", "What is 6 * 7?"]])
def test_a_rejection_with_words_and_feedback_plan_again(cli: Cli, latest: Callable[[], str], words: list[str]) -> None:
    cli("run", "What is 2 + 2?")
    run = latest()

    result = cli("resume", run, *words)

    decided = told(cli, run)["decisions"]
    assert [(made["decision"], made["message"]) for made in decided] == [("feedback", "What is 6 * 7?")]
    assert result.exit_code in (1, 3)


def test_comments_are_given_by_step_and_a_reason_beside_an_approval(cli: Cli, waiting: str) -> None:
    cli("resume", waiting, "--comment", "sum=in cents", "--comment", "write=shorter", "--feedback", "for Ann")

    (made,) = told(cli, waiting)["decisions"]
    assert made["message"] == "for Ann; on sum: in cents; on write: shorter"

    cli("resume", waiting, "--approve", "--reason", "it is small")

    assert "it is small" in cli("audit", waiting).stdout


def test_a_comment_on_a_step_that_is_not_there_is_refused_and_the_run_waits(cli: Cli, waiting: str) -> None:
    result = cli("resume", waiting, "--comment", "smu=in cents")

    assert result.exit_code == 2 and "no step 'smu'" in result.stderr and "did you mean sum?" in result.stderr
    assert told(cli, waiting)["decisions"] == []


def test_an_edited_plan_runs_instead(cli: Cli, waiting: str, folder: Path) -> None:
    cli("draw", waiting, "-o", "edited.json")
    edited = json.loads((folder / "edited.json").read_text())
    assert edited == json.loads((folder / "plan.json").read_text())
    edited["steps"][0]["args"]["expression"] = "40 + 3"
    (folder / "edited.json").write_text(json.dumps(edited))

    result = cli("resume", waiting, "--edit", "edited.json")

    assert result.exit_code == 0
    assert "it is 43" in result.stdout
    assert told(cli, waiting)["revision"] == 2


def test_an_edited_plan_with_faults_is_refused_and_the_run_waits(cli: Cli, waiting: str, folder: Path) -> None:
    (folder / "edited.json").write_text('{"steps": [{"id": "a", "objective": "x", "tool": "nope"}]}')

    result = cli("resume", waiting, "--edit", "edited.json")

    assert result.exit_code == 2
    assert "'nope'" in result.stderr
    assert told(cli, waiting)["status"] == "waiting"
    assert cli("resume", waiting, "--approve").exit_code == 0


CONTRADICTIONS = [
    ["--approve", "--reject"],
    ["--approve", "--yes"],
    ["--feedback", "x", "--edit", "plan.json"],
    ["--approve", "--comment", "sum=x"],
    ["--comment", "sum"],
    ["--reject", "--reason", "x"],
    ["--reject", "--ask-later", "sum"],
    ["words without reject"],
    ["--approve", "--happened", "true"],
    ["--approve", "--result", "1"],
    ["--happened", "maybe"],
    ["--feedback", " "],
]


def test_decisions_that_contradict_each_other_decide_nothing(cli: Cli, waiting: str) -> None:
    for options in CONTRADICTIONS:
        assert cli("resume", waiting, *options).exit_code == 2, options
        assert (told(cli, waiting)["status"], told(cli, waiting)["decisions"]) == ("waiting", []), options


def test_a_run_that_has_ended_is_shown_and_takes_no_decision(cli: Cli, waiting: str) -> None:
    cli("resume", waiting, "--reject")

    assert cli("resume", waiting).exit_code == 1
    refused = cli("resume", waiting, "--approve")
    assert refused.exit_code == 2
    assert "waits for no decision" in refused.stderr


def test_resume_works_with_the_folders_of_the_run_wherever_it_is_called(
    cli: Cli, waiting: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")

    result = cli("resume", waiting, "--approve", "--db", str(folder / "planner-executor.db"))

    assert result.exit_code == 0
    assert (folder / "workspace/report.md").exists()


def test_resume_can_be_given_another_workspace_which_is_approved_anew(cli: Cli, waiting: str, folder: Path) -> None:
    assert cli("resume", waiting, "--approve", "--workspace", "out").exit_code == 2
    assert not (folder / "out/report.md").exists()

    cli("resume", waiting, "--approve", "--workspace", "out")

    assert (folder / "out/report.md").exists()
    assert not (folder / "workspace").exists()


def test_a_printed_command_names_the_settings_file_that_this_one_was_called_with() -> None:
    with given_options("run", {"--config": "own.toml"}):
        assert command("resume --approve", "t.1", "runs.db").endswith(
            " resume t.1 --approve --config own.toml --db runs.db"
        )
        assert command("show", "t.1", "runs.db").endswith(" show t.1 --db runs.db")


def test_calls_that_are_left_out_of_an_approval_are_asked_about_when_they_are_due(
    cli: Cli, waiting: str, tmp_path: Path
) -> None:
    result = cli("resume", waiting, "--approve", "--ask-later", "sum")

    assert "ask_later: the policy asks about no call of sum" in result.stdout + result.stderr
    assert told(cli, waiting)["status"] == "waiting"
