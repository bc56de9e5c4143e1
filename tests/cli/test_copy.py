"""`copy`: a thread that cannot be copied keeps no other back."""

from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

Cli = Callable[..., Result]


def test_a_copy_that_was_broken_off_is_finished_by_the_same_command(cli: Cli, waiting: str) -> None:
    Path("answer.json").write_text('{"steps": [], "answer": 42}')
    assert cli("copy", waiting, "--to", "copy.db").exit_code == 0
    assert cli("run", "ask", "--plan", "answer.json").exit_code == 0

    again = cli("copy", "--all", "--to", "copy.db")

    thread = waiting.rpartition(".")[0]
    assert again.exit_code == 2 and f"thread {thread} was not copied: " in " ".join(again.stderr.split())
    assert again.stdout.count("copied run ") == 1 and cli("runs", "--db", "copy.db").stdout.count("succeeded") == 1
    assert "one of the two databases only" not in again.stdout
