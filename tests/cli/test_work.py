"""`work`: which setup a run is continued with, and how a worker ends."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command
from warm_process import WarmProcess, run_warm

from planner_executor import AsyncAgent
from planner_executor.graph.builder.user_tools import with_named
from planner_executor.graph.caller import Caller, invoked_by
from planner_executor.graph.cli import worker_setups
from planner_executor.graph.cli.setup import Setup
from planner_executor.graph.cli.worker_setups import BySetup, MissingSetupError, setup_to_work
from planner_executor.graph.record.assignment import Assignment
from planner_executor.graph.record.events import RunStarted
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.runs.run import Run, run_of
from planner_executor.graph.work.candidate import Candidate
from planner_executor.graph.work.continuing import Fit

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


def candidate(goal: str, **changes: Any) -> Candidate:
    """Return a run to continue with that setup on record."""
    setup = Setup.default().changed(**changes).to_json()
    started = Assignment(RunStarted(thread="t", n=1, goal=goal), setup=setup, setup_by="facade")
    return Candidate(RunKey("t", 1), RunState(assignment=started), ())


def recorded(**setup: Any) -> Run:
    """Return a run with that setup on record."""
    event = RunStarted(thread="t", n=1, goal="")
    started = Assignment(event, setup=setup, setup_by="facade") if setup else Assignment(event)
    return replace(run_of(RunState(assignment=started), worked_on=False), unproven_setup={})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    return tmp_path


def on_record(**changes: Any) -> Run:
    return recorded(**{**Setup.default().changed(**changes).to_json()})


async def test_a_setup_that_is_looked_at_is_not_closed_to_make_room(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_setups, "OPEN", 1)
    closed: list[Setup] = []

    class Way:
        async def fit(self, run: Candidate) -> Fit:
            if run.record.assignment.started.goal == "first":
                await setups.fit(candidate("second", max_replans=2))
            return Fit(f"{len(closed)} closed")

    class Setups(BySetup):
        async def _open(self, setup: Setup) -> worker_setups._Opened:
            closing = AsyncExitStack()
            closing.callback(closed.append, setup)
            return worker_setups._Opened(Way(), closing)  # type: ignore[arg-type]

    setups = Setups("runs.db", {})
    closed_then = (await setups.fit(candidate("first", max_replans=1))).lacks
    await setups.aclose()

    assert closed_then == "0 closed" and [setup.settings["max_replans"] for setup in closed] == [2, 1]


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

    assert (used.settings["max_replans"], used.settings["approval"], used.workspace) == (
        7,
        "side_effects",
        "/elsewhere",
    )


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


MORE = """
from shop.tools import look
TOOLS = [look]
"""


def begun_in_python(folder: Path, **options: Any) -> str:
    """Begin a run with the tool `look` in Python, and leave it before its first call."""
    (folder / "shop").mkdir()
    (folder / "shop" / "tools.py").write_text(TOOLS)
    (folder / "shop" / "more.py").write_text(MORE)
    (folder / "second").touch()

    async def begin() -> str:
        async with AsyncAgent.open(folder / "planner-executor.db", tools=with_named([], NAMED), **options) as agent:
            run = await agent.start("look", plan=json.loads(PLAN))
            given: Any = {"configurable": {"thread_id": run.thread}}
            with invoked_by(Caller.facade(run.thread)):
                await agent.graph.ainvoke(Command(resume="approve"), given, interrupt_after=["review"])
            return run.id

    return asyncio.run(begin())


@pytest.mark.usefixtures("quick_workers")
def test_a_run_that_was_begun_in_python_goes_on_though_the_command_line_has_more_tools(
    cli: Callable[..., Any], folder: Path
) -> None:
    run = begun_in_python(folder)
    (folder / "shop" / "further.py").write_text(TOOLS.replace("look", "listen"))

    done = cli("work", "--once", "--tools", "shop.tools:TOOLS", "--tools", "shop.further:TOOLS")

    assert f"{run} taken up: weaker here" in done.stdout and f"{run} succeeded" in done.stdout, done.stdout


@pytest.mark.usefixtures("quick_workers")
def test_a_tool_that_two_places_name_is_one_tool(cli: Callable[..., Any], folder: Path) -> None:
    run = begun_in_python(folder)
    (folder / "planner-executor.toml").write_text('tools = ["shop.tools:TOOLS"]\n')

    done = cli(
        "work",
        "--once",
        "--tools",
        "shop.tools:TOOLS",
        "--tools",
        "shop.more:TOOLS",
        "--config",
        "planner-executor.toml",
    )

    assert f"{run} succeeded" in done.stdout, done.stdout


@pytest.mark.usefixtures("quick_workers")
def test_a_run_without_its_tool_is_left_and_the_option_is_named(cli: Callable[..., Any], folder: Path) -> None:
    run = begun_in_python(folder)

    assert f"{run} left: needs look: name it with --tools or --mcp" in cli("work", "--once").stdout
