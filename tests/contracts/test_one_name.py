"""Everything is imported as `planner_executor`, and a user's `graph.py` and `tools.py` do no harm."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOP_LEVEL = re.compile(r"^\s*(?:>>> )?(?:from|import) (?:graph|tools)\b", re.MULTILINE)


def python(folder: Path, *words: str, root: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{root}"}
    return subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_files_of_a_user_named_graph_and_tools_do_no_harm(tmp_path: Path) -> None:
    for name in ("graph.py", "tools.py"):
        (tmp_path / name).write_text("raise SystemExit('a file of the user')")

    command = python(tmp_path, "-m", "planner_executor", "runs", "--db", "none.db")
    code = python(tmp_path, "-c", "from planner_executor import build_graph, default_tools; build_graph()")

    assert command.returncode == 0 and code.returncode == 0, command.stderr + code.stderr


@pytest.mark.parametrize("name", ["graph", "tools"])
def test_the_folders_refuse_to_be_imported_under_their_own_name(tmp_path: Path, name: str) -> None:
    done = python(tmp_path, "-c", f"import {name}")

    assert f"ImportError: import planner_executor.{name}" in done.stderr


def test_a_checkout_without_links_finds_both_folders(tmp_path: Path) -> None:
    package = tmp_path / "checkout" / "planner_executor"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text((ROOT / "planner_executor" / "__init__.py").read_text())
    for name in ("graph", "tools", "examples/incident/incident_tools"):
        (package / name.rpartition("/")[2]).write_text(f"../{name}")  # what git leaves in place of a link
        (package.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (package.parent / name).symlink_to(ROOT / name)

    code = "from planner_executor import AgentError, default_tools as _; print(AgentError.__module__)"
    done = python(package.parent, "-c", code, root=package.parent)

    assert done.stdout.startswith("planner_executor.graph.errors"), done.stderr


def test_no_page_and_no_code_imports_the_folders_by_their_own_name() -> None:
    named = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("notebooks/*.ipynb")]
    named += [*ROOT.glob("examples/**/*.py")]
    named += [file for room in ("graph", "tools", "tests", "benchmarks") for file in (ROOT / room).rglob("*.py")]

    assert [file for file in named if TOP_LEVEL.search(file.read_text(encoding="utf-8").replace('"', "\n"))] == []
