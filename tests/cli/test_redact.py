"""`redact`: the value comes by standard input, a file or a hidden question, never by the command line."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from planner_executor.graph.cli import app

Cli = Callable[..., Result]


def redact(run: str, value: str, *more: str) -> Result:
    return CliRunner().invoke(app, ["redact", run, "--reason", "a mistake", *more], input=value)


def test_a_value_from_standard_input_is_taken_out(cli: Cli, waiting: str) -> None:
    done = redact(waiting, "40 + 2\n", "--yes")

    assert done.exit_code == 0 and f"run {waiting}: events 2, 3" in done.stdout
    assert "the value is no longer in the file" in done.stdout
    assert b"40 + 2" not in Path("planner-executor.db").read_bytes()
    assert "redacted: events 2, 3 by os:" in cli("verify", waiting).stdout
    assert "[redacted]" in cli("show", waiting).stdout


def test_a_value_from_a_file_is_taken_out(waiting: str) -> None:
    Path("value").write_text("it is {sum\n")

    assert redact(waiting, "", "--yes", "--value-file", "value").exit_code == 0


def test_without_a_word_from_anybody_nothing_is_changed(cli: Cli, waiting: str) -> None:
    before = cli("verify", waiting).stdout

    assert redact(waiting, "40 + 2").exit_code == 2 and cli("verify", waiting).stdout == before


@pytest.mark.parametrize("value", ["", "abc", "calculator"])
def test_what_cannot_be_taken_out_is_a_sentence(waiting: str, value: str) -> None:
    assert redact(waiting, value, "--yes").exit_code == 2


def test_a_file_that_cannot_be_read_is_a_sentence(waiting: str) -> None:
    assert redact(waiting, "", "--yes", "--value-file", "nowhere").exit_code == 2
    assert redact("nobody", "40 + 2", "--yes").exit_code == 2
