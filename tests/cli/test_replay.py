"""`replay`: a run or a file is played again, and the exit code says whether it came out the same."""

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

Cli = Callable[..., Result]


def test_a_run_comes_out_the_same_and_nothing_is_written(cli: Cli, waiting: str, folder: Path) -> None:
    cli("resume", waiting, "--approve")
    (folder / "workspace" / "report.md").unlink()

    played = cli("replay", waiting)

    assert played.exit_code == 0 and "every decision came out the same" in played.stdout
    assert not (folder / "workspace" / "report.md").exists()
    assert json.loads(cli("replay", waiting, "--json").stdout)["same"] is True


def test_a_file_comes_out_the_same_where_there_is_no_database(cli: Cli, waiting: str, folder: Path) -> None:
    cli("export", waiting, "run.jsonl")
    (folder / "planner-executor.db").unlink()

    assert cli("replay", "run.jsonl").exit_code == 0


def test_another_planner_that_differs_is_an_exit_code_of_its_own(
    cli: Cli, latest: Callable[[], str], folder: Path
) -> None:
    cli("run", "What is 12 * 4 + 5?", "--yes")

    assert cli("replay", latest(), "--planner", "offline").exit_code == 0
    Path("plan.json").write_text('{"steps": [], "answer": 53}')
    cli("run", "What is 12 * 4 + 5?", "--plan", "plan.json", "--yes")
    assert cli("replay", latest(), "--planner", "offline").exit_code == 0


def test_what_cannot_be_played_is_a_sentence(cli: Cli, waiting: str) -> None:
    cli("export", waiting, "run.jsonl")
    Path("run.jsonl").write_text(Path("run.jsonl").read_text().replace("40 + 2", "40 + 3"))

    assert cli("replay", "run.jsonl").exit_code == 4
    assert cli("replay", "nobody").exit_code == 2
    assert cli("replay", waiting, "--planner", "no-such-provider:x").exit_code == 2
