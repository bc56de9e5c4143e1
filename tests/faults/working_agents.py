"""Processes that begin runs and leave them, and workers that continue them; started by `test_workers.py`.

Usage: working_agents.py begin|work DATABASE LOG [KILL_AT]. `begin` starts COUNT approved runs and is killed when each
has begun its first call. A worker is killed in the KILL_AT-th payment that it makes, after the payment.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from planner_executor import AsyncAgent
from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.testing import ScriptedModel, step
from planner_executor.graph.work.continuing import BySession
from planner_executor.graph.work.worker import Worker

COUNT = 10
ANY = {"type": "object", "properties": {}, "additionalProperties": True}
PACE = Pace(beat_s=0.1, lease_s=1.0, look_s=0.05)


def plan_of(name: str) -> dict[str, Any]:
    """Return the plan of a run: two payments, with a look before each."""
    return {
        "steps": [
            step("look_1", "look", name=name),
            step("pay_1", "pay", name=f"{name}-1", after=["look_1"]),
            step("look_2", "look", name=name, after=["pay_1"]),
            step("pay_2", "pay", name=f"{name}-2", after=["look_2"]),
        ]
    }


class Shop:
    """The tools of one process; `hold` makes each look wait for ever, `kill_at` is the payment that kills."""

    def __init__(self, log: Path, hold: bool, kill_at: int) -> None:
        self.log, self.hold, self.kill_at = log, hold, kill_at
        self.looked = self.paid = 0

    def tools(self) -> list[BaseTool]:
        async def look(name: str) -> str:
            self.looked += 1
            if self.hold:
                if self.looked == COUNT:
                    os.kill(os.getpid(), signal.SIGKILL)
                await asyncio.Event().wait()
            return name

        async def pay(name: str) -> str:
            with self.log.open("a") as file:
                file.write(f"{name}\n")
            self.paid += 1
            if self.paid == self.kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return f"paid {name}"

        reading = {"effect": "read"}
        return [
            StructuredTool(name="look", description="look", args_schema=ANY, coroutine=look, metadata=reading),
            StructuredTool(name="pay", description="pay", args_schema=ANY, coroutine=pay),
        ]


async def main(what: str, database: str, log: str, kill_at: str = "0") -> None:
    """Begin runs, or work."""
    own = Shop(Path(log), what == "begin", int(kill_at)).tools()
    async with AsyncAgent.open(database, planner=ScriptedModel([]), tools=own) as agent:
        if what == "begin":
            names = [f"run{n}" for n in range(COUNT)]
            runs = [await agent.start("pay", plan=plan_of(name), thread=name) for name in names]
            await asyncio.gather(*(agent.resume(run.id, "approve") for run in runs))
        worker = Worker(agent.runs, BySession(await agent._open.get()), concurrency=4, pace=PACE)
        await worker.run(once=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
