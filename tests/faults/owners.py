"""Processes that work on one run; started by `test_owners.py`, forked from a parent that has imported already.

The run's tool waits for a file before its effect, so that the test decides when an owner is in the middle of a step.
"""

import asyncio
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from planner_executor import AsyncAgent
from planner_executor.graph.errors import AgentError
from planner_executor.graph.testing import ScriptedModel, step

ANY = {"type": "object", "properties": {}, "additionalProperties": True}
PLAN = {"steps": [step("a", "slow", name="a"), step("b", "slow", name="b", after=["a"])]}


def slow_tool(folder: Path) -> BaseTool:
    """Return a tool that says it has begun, waits for the file `go`, and notes its effect."""

    async def run(name: str) -> str:
        with (folder / "begun").open("a") as file:
            file.write(f"{os.getpid()} {name}\n")
        while not (folder / "go").exists():
            await asyncio.sleep(0.01)
        with (folder / "effects").open("a") as file:
            file.write(f"{name}\n")
        return f"did {name}"

    return StructuredTool(name="slow", description="slow", args_schema=ANY, coroutine=run, metadata={"effect": "read"})


async def work_on(folder: Path, name: str, decision: Any = None) -> None:
    """Start or resume the run and write down how it went."""
    try:
        async with AsyncAgent.open(
            folder / "runs.db", planner=ScriptedModel([PLAN]), tools=[slow_tool(folder)]
        ) as agent:
            if not await agent.list():
                await agent.start("own it", thread="t")
            run = await agent.resume("t", decision)
            said = run.status
    except AgentError as error:
        said = type(error).__name__
    (folder / f"said-{name}").write_text(said)


def fork(work: Callable[[], None]) -> int:
    """Run work in a forked process and return its pid."""
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
    except BaseException:  # noqa: BLE001  (a child of a fork must not go on as its parent)
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
