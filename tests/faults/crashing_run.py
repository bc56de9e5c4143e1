"""A run in a process of its own whose tool kills that process; started by `test_kill.py`.

Usage: crashing_run.py DATABASE LOG KILL_AT, where KILL_AT names the call that dies (`after:c` once its effect is done).
"""

import os
import signal
import sys
from pathlib import Path

from langchain_core.tools import BaseTool, StructuredTool

from graph import Agent
from graph.testing import ScriptedModel, step

ANY = {"type": "object", "properties": {}, "additionalProperties": True}
PLAN = {
    "steps": [
        step("a", "look", name="a"),
        step("b", "look", name="b"),
        step("c", "pay", name="c", after=["a", "b"]),
        step("d", "look", name="d", after=["c"]),
    ],
    "answer": ["{a_result}", "{c_result}", "{d_result}"],
}


def tools(log: Path, kill_at: str) -> list[BaseTool]:
    def effect(name: str) -> str:
        if kill_at == f"before:{name}":
            os.kill(os.getpid(), signal.SIGKILL)
        with log.open("a") as file:
            file.write(f"{name}\n")
        if kill_at == f"after:{name}":
            os.kill(os.getpid(), signal.SIGKILL)
        return f"did {name}"

    look = StructuredTool(name="look", description="look", args_schema=ANY, func=effect, metadata={"effect": "read"})
    pay = StructuredTool(name="pay", description="pay", args_schema=ANY, func=effect)
    return [look, pay]


if __name__ == "__main__":
    database, log_name, kill = sys.argv[1:]
    with Agent.open(database, planner=ScriptedModel([PLAN]), tools=tools(Path(log_name), kill)) as agent:
        run = agent.start("pay once", thread="crash")
        agent.resume(run.id, "approve")
