"""How errors end a command, what it exits with, and what typer sees of it."""

import errno
import inspect
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from rich.console import Console

from planner_executor.graph.cli import exit_codes
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.cli.signals import Interrupted
from planner_executor.graph.errors import InputError, LedgerUnavailableError
from planner_executor.graph.record.run_status import EndStatus


@pytest.fixture
def err() -> Console:
    return Console(file=io.StringIO(), width=120)


@pytest.fixture
def stdout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A standard output that is a file."""
    with (tmp_path / "out").open("w") as file:
        monkeypatch.setattr(sys, "stdout", file)
        yield tmp_path / "out"


@pytest.mark.usefixtures("stdout")
@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("run", "unknown"), 2, "run: unknown"),
        (LedgerUnavailableError("runs.db", "it is locked"), 4, "ledger runs.db: it is locked"),
        (OSError(errno.ENOSPC, "No space left"), 4, "the output cannot be written: No space left"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (Interrupted(), 130, ""),
    ],
)
def test_an_error_is_one_sentence_and_an_exit_code(err: Console, error: BaseException, code: int, said: str) -> None:
    with pytest.raises(typer.Exit) as ended, exit_codes.report_errors(Screen(err, err)):
        raise error

    assert ended.value.exit_code == code and err.file.getvalue().strip() == said  # type: ignore[attr-defined]


def test_what_cannot_be_written_is_written_nowhere_and_other_errors_are_bugs(err: Console, stdout: Path) -> None:
    with pytest.raises(OSError, match="no such"), exit_codes.report_errors(Screen(err, err)):
        raise OSError(errno.ENOENT, "no such")
    with pytest.raises(typer.Exit), exit_codes.report_errors(Screen(err, err)):
        raise OSError(errno.EIO, "broken")
    sys.stdout.write("lost")
    sys.stdout.flush()

    assert stdout.read_text() == ""


def test_each_end_of_a_run_has_its_code() -> None:
    codes = {status: exit_codes.exit_code(status) for status in (*get_args(EndStatus), "waiting", "paused")}

    assert (codes.pop("succeeded"), codes.pop("waiting"), codes.pop("paused")) == (0, 3, 3)
    assert set(codes.values()) == {1} and "failed" in codes


@pytest.mark.usefixtures("stdout")
def test_a_command_gets_the_screen_that_typer_does_not_know_of() -> None:
    given: list[Any] = []

    def command(screen: Screen, name: "str", json: bool = False) -> None:
        given.append((screen, name))

    call = exit_codes.on_screen(command)
    call(name="a")
    call(name="b", json=True)

    (plain, _), (beside, name) = given
    assert name == "b" and beside.out is beside.err and plain.out is not plain.err
    assert {one.name: one.annotation for one in inspect.signature(call).parameters.values()} == {
        "name": str,
        "json": bool,
    }
