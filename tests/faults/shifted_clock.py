"""The facade in a process whose wall clock is off; started by `test_clock.py`.

Usage: shifted_clock.py DATABASE SECONDS DECISION LOG, where DECISION is a JSON value or `null`.
"""

import json
import sys
import time

if __name__ == "__main__":
    shift_s = float(sys.argv[2])
    true_time, true_time_ns = time.time, time.time_ns
    time.time = lambda: true_time() + shift_s
    time.time_ns = lambda: true_time_ns() + int(shift_s * 1e9)

from langchain_core.tools import StructuredTool

from graph import Agent
from graph.testing import ScriptedModel, step

ANY = {"type": "object", "properties": {}, "additionalProperties": True}
PLAN = {"steps": [step("a", "pay", name="a"), step("b", "pay", name="b", after=["a"])]}


def pay(name: str) -> str:
    """Note the effect."""
    with open(sys.argv[4], "a") as file:  # noqa: PTH123  (a line appended)
        file.write(name + "\n")
    return f"paid {name}"


if __name__ == "__main__":
    tool = StructuredTool(name="pay", description="pay", args_schema=ANY, func=pay)
    with Agent.open(sys.argv[1], planner=ScriptedModel([PLAN]), tools=[tool]) as agent:
        run = agent.start("pay", thread="t") if not agent.list() else agent.resume("t", json.loads(sys.argv[3]))
        sys.stdout.write(run.status)
