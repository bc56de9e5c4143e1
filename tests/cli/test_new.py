"""`planner-executor new` writes a project that works as it is."""

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result
from warm_process import WARNINGS_AS_ERRORS, run_warm

from planner_executor.graph.cli.commands.new import write_project

Cli = Callable[..., Result]


def test_it_writes_the_files_that_its_readme_names_and_says_what_to_do_next(cli: Cli, folder: Path) -> None:
    said = cli("new", "my bills").stdout

    readme = (folder / "my bills" / "README.md").read_text()
    for name in re.findall(r"^\| `(.+?)` \|", readme, re.MULTILINE):
        assert (folder / "my bills" / name).is_file()
    assert re.search(r"^next: cd 'my bills' && \S*planner-executor trust$", said, re.MULTILINE)


@pytest.mark.parametrize("there", ["a folder with a file", "a file"])
def test_what_is_there_already_is_left_alone(cli: Cli, folder: Path, there: str) -> None:
    at = folder / "bills"
    if there == "a file":
        at.write_text("mine")
    else:
        at.mkdir()
        (at / "notes.txt").write_text("mine")
    refused = cli("new", "bills")

    assert refused.exit_code == 2 and "bills is not empty; name a folder" in refused.output
    assert [file.read_text() for file in folder.rglob("bills*") if file.is_file()] == ["mine"] * (there == "a file")
    assert not list(folder.rglob("payables.py"))


def test_an_empty_folder_is_taken(cli: Cli, folder: Path) -> None:
    (folder / "bills").mkdir()

    assert cli("new", "bills").exit_code == 0


@pytest.mark.slow
def test_the_test_of_the_project_passes_in_a_folder_of_its_own_with_warnings_as_errors(folder: Path) -> None:
    write_project(folder / "bills")

    done = run_warm(["-m", "pytest", "-q", *WARNINGS_AS_ERRORS, "-p", "no:cacheprovider"], cwd=folder / "bills")

    assert "2 passed" in done.stdout, done.stdout


def test_the_linter_of_this_project_finds_nothing_in_it(folder: Path) -> None:
    write_project(folder / "bills")

    rules = Path(__file__).parents[2] / "pyproject.toml"
    command = [sys.executable, "-m", "ruff", "check", "--config", rules, "--ignore", "D103,I001", "."]
    style = subprocess.run(command, cwd=folder / "bills", capture_output=True, text=True)

    assert style.returncode == 0, style.stdout


def test_each_payment_is_shown_before_it_is_made(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_project(folder / "bills")
    monkeypatch.chdir(folder / "bills")
    cli("trust", "--yes")

    cli("run", "Pay the invoice of Harbour Cranes", "--plan", "plan.json")
    (run,) = json.loads(cli("runs", "--json").stdout)["runs"]
    asked = cli("resume", run["id"], "--approve").stdout
    assert "pay 480.5 EUR to DE89370400440532013000 for HC-2041" in asked and not Path("bank.csv").exists()

    assert cli("resume", run["id"], "--approve").exit_code == 0
    assert Path("bank.csv").read_text() == "DE89370400440532013000,480.5,HC-2041\n"


def test_what_its_langgraph_json_names_are_attributes_of_one_module(folder: Path) -> None:
    write_project(folder / "bills")
    named = (folder / "bills" / "langgraph.json").read_text()
    attributes = re.findall(r'"(planner_executor[\w.]*)[.:](\w+)"', named)

    assert {attribute for _, attribute in attributes} == {"graph", "checkpointer", "app", "auth"}
    assert [one for module, one in attributes if one not in vars(importlib.import_module(module))] == []


def test_nothing_is_said_of_documents_where_no_tool_reads_them(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_project(folder / "bills")
    monkeypatch.chdir(folder / "bills")
    cli("trust", "--yes")

    assert "documents folder" not in cli("run", "What is 6 * 7?").output
    assert "documents folder" in cli("run", "What is 6 * 7?", "--pack", "documents").output
