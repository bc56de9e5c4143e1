"""A folder of one's own to run commands in, in this process or in others."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import typer.testing
from typer.testing import CliRunner, Result
from warm_process import run_warm

from planner_executor.graph.cli import app

typer.testing._get_command = lru_cache(typer.main.get_command)  # to make all commands anew takes as long as most run
Cli = Callable[..., Result]

SUM_AND_WRITE = {
    "steps": [
        {"id": "sum", "objective": "Add", "tool": "calculator", "args": {"expression": "40 + 2"}},
        {"id": "write", "objective": "Keep it", "tool": "write_report", "args": {"content": "it is {sum_result}"}},
    ],
    "answer": "it is {sum_result}",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in an empty folder with a plan file, with no settings in the environment."""
    for name in ("PLANNER_EXECUTOR_DB", "OPENAI_API_KEY", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path.with_name(f"{tmp_path.name}-state")))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps(SUM_AND_WRITE))
    return tmp_path


@pytest.fixture
def cli() -> Cli:
    """Return a function that runs a command in this process, without a terminal."""

    def run(*args: str) -> Result:
        result = CliRunner().invoke(app, list(args))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def waiting(cli: Cli, latest: Callable[[], str]) -> str:
    """Return a run that waits for the approval of `plan.json`."""
    cli("run", "add", "--plan", "plan.json")
    return latest()


@pytest.fixture
def latest(cli: Cli) -> Callable[[], str]:
    """Return a function that returns the name of the latest run."""
    return lambda: str(json.loads(cli("runs", "--json").stdout)["runs"][0]["id"])


NOTES_PLAN: dict[str, Any] = {
    "steps": [
        {"id": "find", "objective": "Find wind", "tool": "search_documents", "args": {"query": "wind"}},
        {
            "id": "write",
            "objective": "Write it down",
            "tool": "write_report",
            "args": {"path": "found.md", "title": "On wind", "content": "{find_result.passages[0].text}"},
        },
    ],
    "answer": "{write_result.path}",
}
NOTES_PARAMS = [f"--param=topic={place}" for place in ("find.args.query", "find.objective", "write.args.title")]


@pytest.fixture
def kept(folder: Path, cli: Cli, latest: Callable[[], str]) -> str:
    """Return the file of a playbook that was saved of the latest run: it finds a topic in notes, and writes it down."""
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "notes.md").write_text("# Notes\n\nWind is cheap, and the sea is deep.\n")
    (folder / "plan.json").write_text(json.dumps(NOTES_PLAN))
    assert cli("run", "Look for something", "--plan", "plan.json", "--yes").exit_code == 0
    assert cli("playbook", "save", latest(), "--as", "about", *NOTES_PARAMS).exit_code == 0
    return "about.yaml"


@pytest.fixture
def command() -> Callable[..., list[str]]:
    """Return a function that returns the command line of a new process."""
    return lambda *args: [sys.executable, "-m", "planner_executor", *args]


@pytest.fixture
def process() -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Return a function that runs a command in a process of its own, without a terminal."""
    return lambda *args: run_warm(["-m", "planner_executor", *args])


@pytest.fixture
def read_until() -> Callable[..., str]:
    """Return a function that reads from a pipe or a terminal until the words come, or its end."""

    def read(file: int, words: str, seconds: float = 300) -> str:
        got, deadline = b"", time.monotonic() + seconds
        while words.encode() not in got:
            if not select.select([file], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"{words!r} did not come after {got.decode(errors='replace')!r}")
            try:
                more = os.read(file, 65536)
            except OSError:  # a terminal whose other side has gone
                break
            if not more:
                break
            got += more
        return got.decode(errors="replace")

    return read
