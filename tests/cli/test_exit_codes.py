import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from planner_executor.graph.cli.epilog import EPILOG

Cli = Callable[..., Result]


@pytest.fixture
def bad_files(folder: Path) -> None:
    (folder / "file").write_text("no folder")
    (folder / "broken.json").write_text('{"steps": [\n  {"id": }]}')
    (folder / "null.json").write_text("null")
    (folder / "bytes.json").write_bytes(b"\xff{}")
    (folder / "deep.json").write_text("[" * 100_000)


@pytest.mark.usefixtures("bad_files")
@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["run", "x", "--docs", "nope"], "nope"),
        (["run", "x", "--workspace", "file"], "file"),
        (["run", "x", "--plan", "nope.json"], "nope.json"),
        (["run", "x", "--plan", "."], "."),
        (["run", "x", "--plan", "broken.json"], "line 2, column 10"),
        (["run", "x", "--plan", "null.json"], "null.json"),
        (["run", "x", "--plan", "bytes.json"], "bytes.json: byte 0"),
        (["run", "x", "--plan", "deep.json"], "deep.json"),
        (["run", "x", "--planner", "gpt"], "gpt"),
        (["run", "x", "--planner", "openai:gpt-5-mini"], "OPENAI_API_KEY"),
        (["resume", "nope.1", "--approve"], "nope.1"),
        (["resume", "nope.1", "--edit", "broken.json"], "line 2, column 10"),
        (["show", "nope.1"], "nope.1"),
        (["cancel", "nope.1"], "nope.1"),
        (["draw", "nope.1"], "nope.1"),
        (["tools", "--docs", "nope"], "nope"),
    ],
)
def test_wrong_usage_is_one_sentence_and_leaves_nothing_behind(
    cli: Cli, folder: Path, args: list[str], named: str
) -> None:
    result = cli(*args)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert named in result.stderr
    assert not (folder / "planner-executor.db").exists()


@pytest.mark.parametrize("args", [["run", "What is 6 * 7?"], ["tools"]])
def test_an_allowed_host_that_is_none_is_one_sentence(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, args: list[str]
) -> None:
    monkeypatch.setenv("PLANNER_EXECUTOR_HTTP_HOSTS", "https://me:secret@api.example.org")

    result = cli(*args)

    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)
    assert "api.example.org" in result.stderr
    assert "secret" not in result.stderr


@pytest.mark.parametrize("goal", ["", " \n", "half \udcff"])
def test_a_goal_that_cannot_be_recorded_is_refused(cli: Cli, goal: str) -> None:
    assert cli("run", goal).exit_code == 2
    assert cli("run", "x", "--constraint", goal).exit_code == 2


@pytest.mark.parametrize("database", [".", "plan.json/runs.db", "no/such/folder/runs.db", "plan.json"])
@pytest.mark.parametrize("args", [["run", "What is 6 * 7?", "--yes"], ["runs"], ["show", "any.1"], ["resume", "any.1"]])
def test_storage_trouble_is_one_sentence_with_a_code_of_its_own(cli: Cli, args: list[str], database: str) -> None:
    result = cli(*args, "--db", database)

    assert result.exit_code == 4
    assert len(result.stderr.splitlines()) == 1
    assert database in result.stderr


def test_a_run_whose_records_were_changed_is_listed_and_found_by_the_doctor(
    cli: Cli, waiting: str, folder: Path
) -> None:
    import sqlite3

    cli("run", "What is 6 * 7?", "--yes")
    connection = sqlite3.connect(folder / "planner-executor.db")
    connection.execute("UPDATE ledger_events SET payload = '{}' WHERE run = 1 AND seq = 2")
    connection.commit()
    connection.close()

    listed = cli("runs")

    assert listed.exit_code == 0
    assert f"{waiting}  waiting" in listed.stdout and "What is 6 * 7?" in listed.stdout
    assert f"run {waiting}: its records were changed or are damaged" in cli("doctor").stdout
    cli("doctor", "--reindex")
    assert f"{waiting}  damaged" in cli("runs").stdout
    assert cli("show", waiting).exit_code == 4
    assert cli("resume", waiting, "--approve").exit_code == 4


def test_the_help_of_every_command_lists_the_exit_codes(cli: Cli) -> None:
    for args in ([], ["run"], ["resume"], ["show"]):
        helped = " ".join(cli(*args, "--help").stdout.split())
        assert EPILOG in helped


def test_the_documentation_lists_the_same_codes() -> None:
    page = Path(__file__).parents[2] / "docs/command-line.md"

    documented = re.findall(r"^\| (\d+) \|", page.read_text(), re.MULTILINE)

    assert documented == ["0", "1", "2", "3", "4", "130"]
