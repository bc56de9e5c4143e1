import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Cli = Callable[..., Result]

PLAN = {
    "steps": [
        {"id": "write", "objective": "Keep it", "tool": "write_file", "args": {"path": "a.txt", "content": "one"}},
        {"id": "read", "objective": "Read it", "tool": "read_file", "args": {"path": "b.txt"}, "depends_on": ["write"]},
        {"id": "count", "objective": "Count", "tool": "calculator", "args": {"expression": "1 + 1"}},
    ]
}


@pytest.fixture
def failed(cli: Cli, folder: Path, latest: Callable[[], str]) -> str:
    (folder / "plan.json").write_text(json.dumps(PLAN))
    result = cli("run", "g", "--plan", "plan.json", "--yes", "--replan", "never")
    assert result.exit_code == 1 and "to try again what failed: planner-executor retry " in result.stdout
    return latest()


def told(cli: Cli, run: str) -> dict:
    return json.loads(cli("show", run, "--json").stdout)


def test_a_failed_run_is_retried_and_what_succeeded_stays(cli: Cli, failed: str, folder: Path) -> None:
    (folder / "workspace" / "a.txt").unlink()
    (folder / "workspace" / "b.txt").write_text("there")

    result = cli("retry", failed)

    assert result.exit_code == 0 and "succeeded" in result.stdout
    assert not (folder / "workspace" / "a.txt").exists()
    audit = cli("audit", failed).stdout
    assert "reopened by os:" in audit and "tried again: read" in audit


def test_another_plan_waits_for_a_decision(cli: Cli, failed: str, folder: Path) -> None:
    other = {"steps": [{"id": "read", "objective": "Read it", "tool": "read_file", "args": {"path": "a.txt"}}]}
    (folder / "other.json").write_text(json.dumps(other))

    result = cli("retry", failed, "--edit", "other.json")

    assert result.exit_code == 3 and "a.txt" in result.stdout
    assert cli("resume", failed, "--approve").exit_code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--limit", "tool_cals=9"], "tool_cals is not a limit of a budget"),
        (["--edit", "plan.json", "--feedback", "be brief"], "--edit and --feedback cannot be combined"),
    ],
)
def test_a_wrong_option_leaves_the_run_as_it_is(cli: Cli, failed: str, options: list[str], words: str) -> None:
    result = cli("retry", failed, *options)

    assert result.exit_code == 2 and words in result.stderr
    assert told(cli, failed)["status"] in ("failed", "partial")


def test_a_run_that_waits_names_the_command_that_continues_it(cli: Cli, waiting: str) -> None:
    result = cli("retry", waiting)

    assert result.exit_code == 2 and "has not ended; continue it with resume" in result.stderr


def test_a_rejected_run_is_final(cli: Cli, waiting: str) -> None:
    cli("resume", waiting, "--reject")
    result = cli("retry", waiting)

    assert result.exit_code == 2 and "ended as rejected, which is final; start a new run" in result.stderr
    assert told(cli, waiting)["status"] == "rejected"
