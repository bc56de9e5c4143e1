"""`work`: which setup a run is continued with, and how a worker ends."""

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from warm_process import WarmProcess, run_warm

from graph.cli.setup import Setup
from graph.cli.worker_setups import MissingSetupError, setup_to_work
from graph.record.assignment import Assignment
from graph.record.run_state import RunState
from graph.runs.run import Run, run_of

TOOLS = """
import os, signal
from langchain_core.tools import tool

@tool
def look(name: str) -> str:
    "Look at something."
    if name == "b" and not os.path.exists("second"):
        open("second", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return f"saw {name}"

look.metadata = {"effect": "read"}
TOOLS = [look]
"""
PLAN = """{"steps": [
    {"id": "a", "objective": "look", "tool": "look", "args": {"name": "a"}},
    {"id": "b", "objective": "look", "tool": "look", "args": {"name": "b"}, "depends_on": ["a"]}
]}"""
NAMED = ("shop.tools:TOOLS",)


def recorded(**setup: Any) -> Run:
    """Return a run with that setup on record."""
    started = Assignment("t", 1, setup=setup, setup_by="facade") if setup else Assignment("t", 1)
    return replace(run_of(RunState(assignment=started), worked_on=False), unproven_setup={})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    return tmp_path


def on_record(**changes: Any) -> Run:
    return recorded(**{**Setup.default().changed(**changes).to_json()})


def test_tools_on_record_are_used_if_the_operator_named_them_too(here: Path) -> None:
    used = setup_to_work(on_record(own_tools=NAMED), {"own_tools": [*NAMED, "more.tools:TOOLS"]})

    assert used.own_tools == NAMED


def test_a_run_without_own_tools_gets_none_of_the_operators(here: Path) -> None:
    assert setup_to_work(on_record(max_replans=7), {"own_tools": NAMED}).own_tools == ()


def test_a_run_without_a_setup_gets_the_operators(here: Path) -> None:
    assert setup_to_work(recorded(), {"own_tools": NAMED}).own_tools == NAMED


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"own_tools": NAMED}, "needs shop.tools:TOOLS: name it with --tools"),
        ({"mcp": "/servers.json"}, "needs the MCP servers in /servers.json: name it with --mcp"),
        ({"documents": "/no/such/folder"}, "needs the folder /no/such/folder"),
    ],
)
def test_a_record_imports_nothing_and_starts_no_program(here: Path, changes: dict[str, Any], why: str) -> None:
    with pytest.raises(MissingSetupError, match=why):
        setup_to_work(on_record(**changes), {})


def test_what_the_run_recorded_is_used_in_place_of_the_operators_defaults(here: Path) -> None:
    used = setup_to_work(on_record(max_replans=7, approval="side_effects", workspace="/elsewhere"), {})

    assert (used.max_replans, used.approval, used.workspace) == (7, "side_effects", "/elsewhere")


@pytest.mark.slow
def test_a_worker_continues_a_killed_run_and_ends_when_it_is_told_to(
    here: Path, read_until: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "shop.py").write_text(TOOLS)
    (here / "plan.json").write_text(PLAN)
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    command = ["-m", "planner_executor"]
    begun = run_warm([*command, "run", "look", "--plan", "plan.json", "--yes", "--tools", "shop:TOOLS"])
    assert begun.returncode == -signal.SIGKILL, begun.stderr

    reader, writer = os.pipe()
    worker = WarmProcess([*command, "work", "--tools", "shop:TOOLS"], stdout=writer)
    os.close(writer)
    said = read_until(reader, "2 of 2 steps succeeded")
    worker.send_signal(signal.SIGTERM)

    assert worker.wait(60) == 0 and " taken up" in said
