"""Runs that outlive their processes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from warm_process import WarmProcess

Process = Callable[..., "subprocess.CompletedProcess[str]"]

pytestmark = pytest.mark.slow

STUCK = """
import threading
from pathlib import Path
from planner_executor.graph.cli.decision_source import DecisionSource
from planner_executor.graph.cli.exit_codes import report_errors
from planner_executor.graph.cli.run_driver import start
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.cli.setup import Setup
import json

def hang(content, path="report.md", title=None, overwrite=False):
    print("called", flush=True)
    threading.Event().wait()

setup = Setup.default()
built = setup.options()
built["tools"] = [
    tool.model_copy(update={"func": hang}) if tool.name == "write_report" else tool for tool in built["tools"]
]
screen, database = Screen.here(), Path("planner-executor.db")
plan = json.loads(Path("plan.json").read_text())
asked = {"goal": "add", "constraints": [], "plan": plan, "setup": setup.to_json()}
try:
    start(DecisionSource(screen, database, yes=True), built, asked)
except KeyboardInterrupt:
    raise SystemExit(130)
"""


@contextmanager
def stuck_in_the_second_step(read_until: Callable[..., str]) -> Iterator[tuple[WarmProcess, Callable[[], str]]]:
    """Start a run in a process of its own and wait until its second step, which never ends, has begun.

    Yields the process, and what reads the rest of its output when it has ended.
    """
    reader, writer = os.pipe()
    process = WarmProcess(["-c", STUCK], stdout=writer, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    os.close(writer)
    try:
        read_until(reader, "called")
        yield process, lambda: read_until(reader, "\0 never said")
        process.wait()
    finally:
        process.kill()
        os.close(reader)


def test_a_run_that_waits_is_approved_by_another_process(process: Process, folder: Path) -> None:
    waits = process("run", "add", "--plan", "plan.json")
    assert waits.returncode == 3
    assert waits.stderr == ""

    approve = next(line.split()[1:] for line in waits.stdout.splitlines() if "--approve" in line)
    ends = process(*approve)

    assert ends.returncode == 0
    assert ends.stderr == ""
    assert (folder / "workspace/report.md").read_text().strip() == "it is 42"


@pytest.mark.e2e
def test_the_command_works_in_a_new_process_that_nothing_was_imported_for(
    command: Callable[..., list[str]], folder: Path
) -> None:
    ended = subprocess.run(
        command("run", "add", "--plan", "plan.json", "--yes"), capture_output=True, text=True, timeout=60, check=False
    )

    assert (ended.returncode, ended.stderr) == (0, "")
    assert (folder / "workspace/report.md").read_text().strip() == "it is 42"


def test_a_failed_step_is_told_once_and_not_by_the_log_as_well(process: Process, folder: Path) -> None:
    failing = {"steps": [{"id": "sum", "objective": "Add", "tool": "calculator", "args": {"expression": "1 / 0"}}]}
    (folder / "plan.json").write_text(json.dumps(failing))

    ended = process("run", "add", "--plan", "plan.json", "--yes", "--max-replans", "0")

    assert ended.returncode == 1
    assert "sum failed" in ended.stdout + ended.stderr and "call_finished" not in ended.stdout + ended.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_is_paused_and_goes_on_where_it_was(
    process: Process, read_until: Callable[..., str], latest: Callable[[], str], number: int
) -> None:
    with stuck_in_the_second_step(read_until) as (stuck, rest):
        stuck.send_signal(number)
        said = rest()

    assert stuck.returncode == 130
    assert f"paused; continue with: planner-executor resume {latest()}" in said
    shown = json.loads(process("show", latest(), "--json").stdout)
    assert shown["status"] == "paused"
    assert shown["steps"] == {"sum": "succeeded", "write": "interrupted"}
    resumed = process("resume", latest())
    assert resumed.returncode == 0
    assert "✓ sum succeeded earlier" in resumed.stdout
    assert "written: workspace/report.md" in resumed.stdout


def test_a_killed_run_goes_on_where_it_was(
    process: Process, read_until: Callable[..., str], latest: Callable[[], str]
) -> None:
    with stuck_in_the_second_step(read_until) as (stuck, _):
        stuck.kill()

    assert f"its process died; continue it: planner-executor resume {latest()}" in process("doctor").stdout
    steps = json.loads(process("show", latest(), "--json").stdout)["steps"]
    assert steps == {"sum": "succeeded", "write": "interrupted"}
    resumed = process("resume", latest())
    assert resumed.returncode == 0
    assert "✓ sum succeeded earlier" in resumed.stdout
    assert "✓ write succeeded in" in resumed.stdout


def test_a_run_is_looked_at_and_cancelled_while_another_process_executes_it(
    process: Process, read_until: Callable[..., str], latest: Callable[[], str], folder: Path
) -> None:
    with stuck_in_the_second_step(read_until) as (stuck, rest):
        assert process("runs").returncode == 0
        assert (folder / "planner-executor.db-wal").exists()  # it belongs to the one who executes
        told = process("cancel", latest()).stdout
        assert told == f"{latest()} runs in another process and ends before its next call\n"
        stuck.send_signal(signal.SIGTERM)
        said = rest()

    assert f"the run had already ended; see: planner-executor show {latest()}" in said
    shown = json.loads(process("show", latest(), "--json").stdout)
    assert shown["status"] == "cancelled"
    assert shown["results"]["sum"]["value"] == 42


@pytest.mark.e2e
def test_a_listing_into_a_closed_pipe_ends_without_a_traceback(command: Callable[..., list[str]]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    listing = subprocess.run(command("tools"), stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writer)

    assert b"Traceback" not in listing.stderr


def test_looking_loads_no_graph_no_model_and_no_schemas(folder: Path) -> None:
    look = (
        "import sys; from typer.testing import CliRunner; from planner_executor.graph.cli import app; "
        "result = CliRunner().invoke(app, ['runs']); assert result.exit_code == 0; "
        "heavy = ('langgraph', 'langchain', 'langchain_core', 'openai', 'jsonschema', 'yaml'); "
        "print([name for name in heavy if name in sys.modules])"
    )

    found = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, timeout=60, check=True)

    assert found.stdout == "[]\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
@pytest.mark.parametrize("words", [["runs", "--json"], ["runs"]])
def test_an_output_on_a_full_disk_is_one_sentence(folder: Path, words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "planner_executor", *words],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert result.returncode == 4
    assert result.stderr == "the output cannot be written: No space left on device\n"
