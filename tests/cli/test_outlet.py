"""The reader of the output goes away: the command goes on, and its exit code is that of what it did."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest
import typer

from planner_executor.graph.cli.exit_codes import report_errors
from planner_executor.graph.cli.outlet import Outlet, OutletConsole
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.observing.json_lines import JsonLines


@pytest.fixture
def unread() -> Iterator[TextIO]:
    """A stream into a pipe whose reader has gone."""
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding="utf-8") as stream:  # noqa: PTH123  (a descriptor is no path)
        yield stream


def test_a_console_says_the_rest_to_nobody(unread: TextIO) -> None:
    console = OutletConsole(file=unread)

    for words in ("the first line", "the second"):
        console.print(words)
    Screen(console, console).write("a document")

    assert console.quiet


def test_json_lines_end_and_the_run_goes_on(unread: TextIO) -> None:
    lines = JsonLines(Outlet(unread))

    for event in ("run_started", "run_ended"):
        lines.write("t.1", event, None, {})


@pytest.mark.parametrize("code", [None, 3], ids=["a listing", "a run that waits"])
def test_the_exit_code_is_that_of_what_was_done(
    unread: TextIO, monkeypatch: pytest.MonkeyPatch, code: int | None
) -> None:
    monkeypatch.setattr("sys.stdout", unread)
    console = OutletConsole(file=unread)

    def command() -> int:
        try:
            with report_errors(Screen(console, console)):
                unread.write("a document") if code is None else console.print("it waits")
                if code is not None:
                    raise typer.Exit(code)
        except typer.Exit as ended:
            return ended.exit_code
        return 0

    assert command() == (code or 0)


def test_no_file_gets_the_number_of_a_standard_stream_that_is_closed(tmp_path: Path) -> None:
    program = (
        "import os, sys; from planner_executor import command; [os.close(number) for number in (0, 2)]; "
        "command.occupy_closed_streams(); print(os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "runs.db")]

    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)

    assert int(done.stdout) > 2
