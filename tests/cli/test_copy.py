"""`copy`: threads go from one database to another."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Cli = Callable[..., Result]


@pytest.mark.parametrize(
    ("given", "code", "words"), [("nobody", 2, "no run 'nobody'"), ("--all", 0, "has no runs to copy")]
)
def test_what_is_not_there_leaves_no_database_behind(cli: Cli, given: str, code: int, words: str) -> None:
    if given == "nobody":
        cli("run", "Compute 40 + 2", "--yes", "--db", "runs.db")
    else:
        Path("runs.db").touch()

    done = cli("copy", given, "--db", "runs.db", "--to", "other.db")

    assert done.exit_code == code and words in done.output and not Path("other.db").exists()


def test_a_copy_that_was_broken_off_is_finished_by_the_same_command(cli: Cli, waiting: str) -> None:
    Path("answer.json").write_text('{"steps": [], "answer": 42}')
    assert cli("copy", waiting, "--to", "copy.db").exit_code == 0
    assert cli("run", "ask", "--plan", "answer.json").exit_code == 0

    again = cli("copy", "--all", "--to", "copy.db")

    thread = waiting.rpartition(".")[0]
    assert again.exit_code == 2 and f"thread {thread} was not copied: " in " ".join(again.stderr.split())
    assert again.stdout.count("copied run ") == 1 and cli("runs", "--db", "copy.db").stdout.count("succeeded") == 1
    assert "one of the two databases only" not in again.stdout
