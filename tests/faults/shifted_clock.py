"""The facade in a process whose wall clock jumps; started by `test_clock.py`.

Usage: shifted_clock.py DATABASE LOG MOVES, where MOVES is a JSON list of [seconds, answers]: what the clock is off by
when a person gives these answers, which are arguments of `Run.decide`; the first one starts the run. Prints the status,
and what is asked, after each.
"""

import json
import sys
import time
from typing import Any

if __name__ == "__main__":
    shift_s = 0.0
    true_time, true_time_ns = time.time, time.time_ns
    time.time = lambda: true_time() + shift_s
    time.time_ns = lambda: true_time_ns() + int(shift_s * 1e9)

from langchain_core.tools import StructuredTool

from planner_executor import Agent
from planner_executor.graph.testing import ScriptedModel, step

ANY = {"type": "object", "properties": {}, "additionalProperties": True}
NAMES = ("who", "more", "last")


def asked(name: str, after: str | None = None) -> dict[str, Any]:
    """Return a question, and the payment to the one who is named."""
    return {"id": name, "objective": "ask", "ask": "Who is paid?", "depends_on": [f"pay_{after}"] if after else []}


PLAN = {
    "steps": [
        one
        for before, name in zip((None, *NAMES), NAMES, strict=False)
        for one in (asked(name, before), step(f"pay_{name}", "pay", name=f"{{{name}_result}}"))
    ]
}


def pay(name: str) -> str:
    """Note the effect."""
    with open(sys.argv[2], "a") as file:  # noqa: PTH123  (a line appended)
        file.write(name + "\n")
    return f"paid {name}"


if __name__ == "__main__":
    tool = StructuredTool(name="pay", description="pay", args_schema=ANY, func=pay)
    with Agent.open(sys.argv[1], planner=ScriptedModel([PLAN]), tools=[tool]) as agent:
        for shift_s, answers in json.loads(sys.argv[3]):  # noqa: B007  (the clock reads it)
            if not agent.list():
                run = agent.start("pay", thread="t")
            else:
                run = agent.resume("t", agent.show("t").decide(**answers)) if answers else agent.resume("t")
            asked = (
                [action["args"].get("step", "plan") for action in run.request["action_requests"]] if run.request else []
            )
            sys.stdout.write(f"{run.status} {' '.join(asked)}".strip() + "\n")
