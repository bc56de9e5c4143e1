"""Two processes, in each of which a person acts on one run; forked by `test_one_instant.py`."""

import json
from pathlib import Path
from typing import Any

from frozen_owner import Effects
from langchain_core.tools import BaseTool, StructuredTool
from owners import ANY

from planner_executor import Agent, Person
from planner_executor.graph.errors import AgentError
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import ScriptedModel, step

ADA, BOB, EVE = (Person(name, proof="token") for name in ("ada", "bob", "eve"))
PLAN = {"steps": [step("paid", "pay", amount=9)]}
OTHER = {"steps": [step("x", "pay", amount=5)]}
EDITED = {"type": "edit", "edited_action": {"name": "run_plan", "args": {"plan": OTHER}}}
DECISIONS: dict[str, Any] = {"approve": "approve", "reject": {"type": "reject"}, "edit": {"decisions": [EDITED]}}


def known(person: Person | None) -> Person | None:
    """Verify whoever is named."""
    return person


def pay_tool(folder: Path) -> BaseTool:
    """Return a tool that notes each payment."""

    def pay(amount: int) -> str:
        Effects(folder).note(str(amount))
        return f"paid {amount}"

    return StructuredTool(name="pay", description="pay", args_schema=ANY, func=pay, metadata={"effect": "external"})


def opened(folder: Path, database: str, quorum: int, planner: Any = None) -> Agent:
    """Open the database; a planner of another name makes the terms other ones."""
    rules = {"approvers": {"names": ["ada", "bob"], "quorum": quorum}}
    planner = planner or ScriptedModel([])
    return Agent.open(database, planner=planner, tools=[pay_tool(folder)], policy=rules, identity=known)


def begin(folder: Path, database: str, quorum: int) -> None:
    """Start the run, which waits for the approval of its plan."""
    with opened(folder, database, quorum) as agent:
        agent.start("pay", plan=PLAN, thread="t", by=EVE)


def act(folder: Path, database: str, quorum: int, name: str, by: Person, how: str) -> None:
    """Act on the run as soon as both processes are ready, and write down what came of it."""
    with opened(folder, database, quorum, "offline" if how == "take over" else None) as agent:
        agent.show("t.1")
        (folder / f"ready-{name}").touch()
        while len(list(folder.glob("ready-*"))) < 2:
            pass
        (folder / f"said-{name}").write_text(_acted(agent, by, how))


def _acted(agent: Agent, by: Person, how: str) -> str:
    try:
        if how == "take over":
            return agent.resume("t", take_over=True, by=by).status
        return agent.resume("t", DECISIONS[how], by=by).status
    except AgentError as error:
        return type(error).__name__


def end(folder: Path, database: str, quorum: int, how: str) -> None:
    """Have both act again until the run has ended, and write down its record."""
    with opened(folder, database, quorum, "offline" if how == "take over" else None) as agent:
        run: Run = agent.show("t")
        for by in (ADA, BOB) * 4:
            if how == "take over":
                _acted(agent, by, how)
            if not run.ended:
                _acted(agent, by, "approve")
            run = agent.show("t")
        log = agent.log(run.id)
        told = {
            "status": run.status,
            "kinds": [event.kind for event in log],
            "is_whole": agent.verify(run.id).is_whole,
            "replay": str(agent.replay(run.id)),
            "is_same": agent.replay(run.id).is_same,
        }
        (folder / "record").write_text(json.dumps(told))
