"""Options of the whole command line: version, help and completion."""

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import Result

Cli = Callable[..., Result]


def test_the_version_is_that_of_the_distribution(cli: Cli) -> None:
    shown = cli("--version")

    assert (shown.exit_code, shown.stdout) == (0, f"planner-executor {version('planner-executor')}\n")


@pytest.mark.parametrize("words", [(), ("run",), ("policy",), ("policy", "show")])
def test_the_short_form_of_help_is_help(cli: Cli, words: tuple[str, ...]) -> None:
    short, long = cli(*words, "-h"), cli(*words, "--help")

    assert short.exit_code == 0 and short.stdout == long.stdout and "--help" in short.stdout


def test_completion_names_the_commands(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_PLANNER_EXECUTOR_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "planner-executor re")
    monkeypatch.setenv("COMP_CWORD", "1")

    assert set(cli().stdout.split()) == {"resume", "retry", "replay", "redact"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("runs", "--status"), "status: no run is 'zork'; use one of"),
        (("prune", "--older-than", "1d", "--status"), "--status: zork is no status of an ended run; use one of"),
    ],
)
def test_a_value_that_is_no_choice_is_refused_without_words_of_the_parser(
    cli: Cli, words: tuple[str, ...], why: str
) -> None:
    refused = cli(*words, "zork")

    assert refused.exit_code == 2 and why in refused.stderr


@pytest.mark.parametrize("words", [("runs",), ("run", "x", "--yes"), ("backup", "copy.db"), ("migrate",), ("work",)])
def test_a_blank_name_of_a_database_is_refused_before_a_file_is_made(
    cli: Cli, words: tuple[str, ...], folder: Path
) -> None:
    before = set(folder.iterdir())

    refused = cli(*words, "--db", "")

    assert refused.exit_code == 2 and "is blank; name a file" in refused.stderr and set(folder.iterdir()) == before


@pytest.mark.parametrize("command", ["runs", "migrate", "doctor"])
def test_a_folder_in_place_of_a_database_is_named_with_the_next_move(cli: Cli, command: str, folder: Path) -> None:
    refused = cli(command, "--db", str(folder))

    assert refused.exit_code == 4 and "Is a directory; name a file in a folder you can write to" in refused.stderr


def test_a_backup_in_a_folder_that_is_not_there_is_refused_with_the_next_move(waiting: str, cli: Cli) -> None:
    refused = cli("backup", "nowhere/copy.db")

    assert waiting and refused.exit_code == 2
    assert "nowhere/copy.db: No such file or directory; name a file in a folder" in refused.stderr
