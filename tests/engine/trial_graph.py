"""The graph that the trial serves: each tool writes a line to a file that all servers share, and takes a while.

A line has the run's label, the step and the number of the process. It is written before the wait, as an effect is.
"""

import asyncio
import os
from pathlib import Path

from planner_executor import build_graph
from planner_executor.graph.checkpoints.checkpoint import database
from planner_executor.tools.declaration import tool

HOME = Path(os.environ["TRIAL_HOME"])
WAIT_S = float(os.environ.get("TRIAL_WAIT_S", "0.1"))


async def _work(label: str, step: str, wait_s: float = WAIT_S) -> str:
    file = os.open(HOME / "calls.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{label} {step} {os.getpid()}\n".encode())
    os.close(file)
    await asyncio.sleep(wait_s)
    return f"{label} {step}"


@tool(effect="read")
async def look(label: str, step: str) -> str:
    """Look; may be repeated."""
    return await _work(label, step)


async def pay(label: str, step: str) -> str:
    """Pay; may not be repeated, and takes long enough for the kill to meet some of them."""
    return await _work(label, step, 30 * WAIT_S)


graph = build_graph(tools=[look, pay], ledger=database(), approval="side_effects", replan="never")
