"""How a command starts: it imports what it uses, and `--help` no command at all."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from planner_executor import Agent
from planner_executor.graph.cli import app
from planner_executor.graph.cli.command_group import WHOLE
from planner_executor.graph.cli.command_table import COMMANDS
from planner_executor.graph.testing import ScriptedModel, step

GRAPH = "planner_executor.graph."
LOADED = (
    "import gc, json, sys; from planner_executor.command import main\n"
    "begun = gc.get_stats()\n"
    "try: main()\n"
    "except SystemExit: pass\n"
    "assert gc.get_stats() == begun, 'garbage was looked for'\n"
    "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
)


def loaded(*words: str) -> set[str]:
    """Return the modules that a process has imported at the end of a command, which is too short to collect garbage."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], capture_output=True, text=True, timeout=60, check=True
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("words", [(), ("--help",), ("--version",)])
def test_help_and_version_import_no_command_and_no_library_but_typer(folder: Path, words: tuple[str, ...]) -> None:
    found = loaded(*words)

    assert not found & {
        "pydantic",
        "rich.console",
        "asyncio",
        "sqlite3",
        "langgraph",
        "langchain_core",
        "httpx",
        "yaml",
    }
    assert not [name for name in found if name.startswith("planner_executor.graph.cli.commands.")]
    assert len([name for name in found if name.startswith("planner_executor.")]) <= 12


@pytest.mark.parametrize(
    ("words", "unused", "most"),
    [
        ("runs", ("asyncio", f"{GRAPH}record.events", f"{GRAPH}plan.schema"), 75),
        ("show first.1", ("asyncio", "re2", f"{GRAPH}ledger.protocol", f"{GRAPH}plan.catalog", f"{GRAPH}policy"), 200),
        ("inbox", ("asyncio", f"{GRAPH}record.events", f"{GRAPH}plan.schema", f"{GRAPH}policy.policy"), 105),
    ],
)
def test_what_reads_runs_imports_no_other_command_and_nothing_that_drives_runs(
    folder: Path, words: str, unused: tuple[str, ...], most: int
) -> None:
    with Agent.open("runs.db", planner=ScriptedModel([]), tools=[], policy={"approval": "always"}) as agent:
        agent.start("think", plan={"steps": [step("a")]}, thread="first")

    found = loaded(*words.split(), "--db", "runs.db")

    (command,) = [name for name in found if name.startswith(f"{GRAPH}cli.commands.")]
    assert command == f"{GRAPH}cli.commands.{words.split()[0]}"
    assert not found & {"langgraph", "langchain_core", "rich.markdown", *unused}
    assert len([name for name in found if name.startswith("planner_executor.")]) <= most


def test_each_line_of_the_table_is_the_first_sentence_of_its_command() -> None:
    commands: Any = get_command(app)

    told = {name: command.get_short_help_str(WHOLE) for name, command in commands.commands.items()}

    assert told == {name: row.summary for name, row in COMMANDS.items()}


def test_each_command_is_a_file_and_has_a_row() -> None:
    folder = Path(__file__).parents[2] / "graph/cli/commands"

    files = {file.stem for file in folder.glob("*.py")} - {"__init__"}

    assert files == {row.module for row in COMMANDS.values()}
