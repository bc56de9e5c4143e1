"""The example of a client in TypeScript: built with strict types, and run against the server."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "typescript-client"
GOAL = "Research offshore wind and write a brief report with sources\x1b[2J"


@pytest.fixture(scope="module")
def program(node_package: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client, built by the compiler that is there for the tests."""
    compiler, types = node_package("typescript") / "bin" / "tsc", node_package("@types/node").parent
    folder = tmp_path_factory.mktemp("client")
    (folder / "package.json").write_text('{"type": "module"}')
    options = ["-p", str(EXAMPLE), "--outDir", str(folder), "--typeRoots", str(types)]
    built = subprocess.run(["node", str(compiler), *options], capture_output=True, text=True, timeout=120)
    assert built.returncode == 0, built.stdout
    return folder / "client.js"


def ran(program: Path, server: Any, *words: str, typed: str = "") -> "subprocess.CompletedProcess[str]":
    command = ["node", str(program), *words, GOAL]
    variables = {**server.environment(), "LANGGRAPH_URL": server.url}
    return subprocess.run(command, env=variables, input=typed, capture_output=True, text=True, timeout=120)


def test_the_client_shows_what_is_asked_and_approves(program: Path, server: Any) -> None:
    report = server.home / "workspace" / "report.md"
    report.unlink(missing_ok=True)  # of another test at the same server

    left, silent = (ran(program, server, typed=typed) for typed in ("n\n", ""))
    is_written = report.exists()
    approved = ran(program, server, "--yes")

    assert (left.returncode, silent.returncode, is_written) == (2, 2, False), left.stderr + silent.stderr
    assert (approved.returncode, report.exists()) == (0, True), approved.stderr
    asked = "Run revision 1 of the plan?\n  because: planned for the goal\n  effect: write_report (write, "
    assert asked in left.stdout and asked in approved.stdout and "waits for an answer" in left.stdout
    assert "step_1 running\n" in approved.stdout and approved.stdout.endswith("steps succeeded\n")
    assert "\x1b" not in left.stdout and "\\u{1b}[2J" in left.stdout
