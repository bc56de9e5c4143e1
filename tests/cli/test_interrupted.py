"""Ctrl-C at any moment of a command, also while it imports and while it ends: one sentence and code 130."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HOOK = """
import atexit, os, signal, sys

moment = os.environ["MOMENT"]

def press():
    os.kill(os.getpid(), signal.SIGINT)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == moment and "planner_executor" in sys.modules:
            sys.meta_path.remove(self)
            press()

sys.meta_path.insert(0, Finder())
if moment == "the end":
    atexit.register(press)
"""
BEFORE = ["typer", "pydantic", "planner_executor.graph.cli.commands.run", "rich.live"]
OURS = ("planner_executor.graph.chat_models.roles", "planner_executor.graph.agent")
AT_WORK = [*OURS, "langgraph.checkpoint.sqlite.aio"]


@pytest.mark.e2e
@pytest.mark.parametrize("moment", [*BEFORE, *AT_WORK, "the end"])
def test_ctrl_c_is_one_sentence_and_its_code(folder: Path, moment: str) -> None:
    (folder / "hook").mkdir()
    (folder / "hook/sitecustomize.py").write_text(HOOK)
    paths = os.pathsep.join([str(folder / "hook"), os.environ["PYTHONPATH"]])
    command = [sys.executable, "-c", "from planner_executor.command import main; main()"]

    done = subprocess.run(
        [*command, "run", "What is 1 + 2 * 3?", "--yes"],
        env={**os.environ, "PYTHONPATH": paths, "MOMENT": moment},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 130, done.stdout + done.stderr
    assert "Traceback" not in done.stderr and "ignored" not in done.stderr
    said = [line for line in (done.stdout + done.stderr).splitlines() if "interrupted" in line or "stopped" in line]
    assert len(said) == 1
    if moment in BEFORE:
        assert done.stdout == "" and done.stderr == "interrupted\n"
