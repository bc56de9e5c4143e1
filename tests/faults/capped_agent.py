"""A process that starts runs until one reaches a cap of the day: `python capped_agent.py DATABASE LOG NAME`."""

import sys
from pathlib import Path

from langchain_core.tools import StructuredTool

from planner_executor import Agent
from planner_executor.graph.testing import ScriptedModel, step

CAP, RUNS = 5, 6
POLICY = {"limits": {"per_day": {"calls": {"pay": CAP}}}}


def main(database: str, log: str, name: str) -> None:
    """Start runs with one call each, which writes a line; print the status of each."""

    def pay(to: str) -> str:
        """Pay somebody."""
        with Path(log).open("a") as lines:
            lines.write(f"{to}\n")
        return to

    tool = StructuredTool.from_function(pay, metadata={"effect": "external", "trusted": True})
    options = {"planner": ScriptedModel([]), "tools": [tool], "policy": POLICY, "approval": "never"}
    with Agent.open(database, **options) as agent:
        for number in range(RUNS):
            run = agent.start("pay", plan={"steps": [step("p", "pay", to=f"{name}-{number}")]})
            sys.stdout.write(f"{run.status}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
