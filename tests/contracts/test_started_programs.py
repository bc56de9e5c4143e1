"""Programs are started in few places, and Python only isolated: no folder of the user's becomes its code."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from planner_executor.tools.workers.isolated import environment, import_path, python_command

ROOT = Path(__file__).parents[2]
STARTED = {
    "graph/cli/actor.py": "the command of --proof-command, which the user names, without a shell",
    "graph/cli/editor.py": "the user's own editor, on a file of its own",
    "graph/notices/apprise.py": "an isolated Python",
    "tools/mcp/launch.py": "the operator's servers; graph.builder.tool_servers refuses what a tool can write",
    "tools/run_python.py": "the sandbox's own program, which is no Python",
    "tools/workers/process.py": "an isolated Python",
}
"""Modules that start programs, and which."""
OWN = {file for file, what in STARTED.items() if what == "an isolated Python"}
STARTING = ("subprocess", "multiprocessing", "pty", "pexpect", "stdio_client", "Monty", "ProcessPoolExecutor")
OF_OS = ("system", "popen", "startfile", "fork", "forkpty", "posix_spawn", "posix_spawnp")
OF_ASYNCIO = ("create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "subprocess_shell")


@cache
def names() -> dict[str, set[str]]:
    """Return what each module imports and uses, if it says a word that matters here."""
    said = re.compile(rf"\b(os|sys\.executable|{'|'.join((*STARTING, *OF_ASYNCIO))})\b")
    files = (*ROOT.glob("graph/**/*.py"), *ROOT.glob("tools/**/*.py"), *ROOT.glob("planner_executor/*.py"))
    texts = {file.relative_to(ROOT).as_posix(): file.read_text() for file in files}
    return {file: set(names_in(ast.parse(text))) for file, text in texts.items() if said.search(text)}


def names_in(tree: ast.Module) -> Iterator[str]:
    """Yield what a module imports and uses, as dotted as it is written."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Attribute):
            yield ast.unparse(node)


def starts(name: str) -> bool:
    """Whether a name is one that starts programs."""
    first, _, last = name.partition(".")[0], None, name.rpartition(".")[2]
    of_os = first == "os" and (last in OF_OS or last.startswith(("exec", "spawn")))
    return of_os or last in OF_ASYNCIO or not {first, last}.isdisjoint(STARTING)


def test_the_modules_that_start_programs_are_known_each_with_its_reason() -> None:
    assert {file for file, used in names().items() if any(map(starts, used))} == set(STARTED)


def test_python_itself_is_named_in_one_place_which_isolates_it() -> None:
    assert {file for file, used in names().items() if "sys.executable" in used} == {"tools/workers/isolated.py"}
    assert python_command("-c", "")[:2] == [sys.executable, "-I"]


@pytest.mark.parametrize("file", sorted(OWN))
def test_each_python_gets_command_environment_and_folder_from_that_place(file: str) -> None:
    isolated = "planner_executor.tools.workers.isolated."
    used = {name.rpartition(".")[2] for name in names()[file] if name.startswith(isolated)}

    assert used == {"FOLDER", "environment", "import_path", "python_command"}


def test_an_isolated_python_loads_nothing_of_a_folder_and_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "sitecustomize", "usercustomize", "planted"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')")
    monkeypatch.chdir(tmp_path)
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("A_KEY", "sk-secret")
    code = "import json, os, sys; print(json.__file__, [p for p in sys.path if p == os.getcwd()], *os.environ)"

    done = subprocess.run(
        python_command("-c", code), env=environment(), capture_output=True, text=True, check=True, cwd=tmp_path
    )

    assert str(tmp_path) not in done.stdout and " [] " in done.stdout
    assert "A_KEY" not in done.stdout and "PYTHON" not in done.stdout


def test_of_the_import_path_no_folder_is_passed_on_that_a_stranger_may_have_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("current", "script", "open", "packages"):
        (tmp_path / name).mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "current")
    monkeypatch.chdir(tmp_path / "current")
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(tmp_path / "script" / "run.py"), raising=False)
    entries = [str(tmp_path / name) for name in ("script", "current", "link", "open", "packages")]
    monkeypatch.setattr(sys, "path", ["", ".", "lib", *entries, str(tmp_path / "missing.zip")])

    passed_on = {os.path.relpath(entry, tmp_path) for entry in import_path()}

    assert passed_on == {"packages", "missing.zip"} | ({"script"} if sys.flags.safe_path else set())
