"""Two processes, each in a fork of its own of one run; forked by `test_two_forks.py`, which has imported already."""

from pathlib import Path

from frozen_owner import Effects
from langchain_core.tools import BaseTool, StructuredTool
from owners import ANY

from planner_executor import Agent
from planner_executor.graph.testing import ScriptedModel, step

THREADS = ("left", "right")
PLAN = {"steps": [step("rent", "look", name="x"), step("paid", "pay", name="980", after=["rent"])]}


def own_tools(folder: Path, thread: str) -> list[BaseTool]:
    """Return a read that ends once both processes are in it, and a payment that ends after the other process."""
    (other,) = set(THREADS) - {thread}

    def look(name: str) -> str:
        (folder / f"{thread}-looks").touch()
        while not (folder / f"{other}-looks").exists():
            pass
        return name

    def pay(name: str) -> str:
        Effects(folder).note(name)
        while not (folder / other).exists() and len(Effects(folder).made) == 1:
            pass
        return f"paid {name}"

    return [
        StructuredTool(name=name, description=name, args_schema=ANY, func=func, metadata={"effect": effect})
        for name, func, effect in (("look", look, "read"), ("pay", pay, "external"))
    ]


def opened(folder: Path, database: str, thread: str = THREADS[0]) -> Agent:
    """Open the database, as each process does."""
    tools = own_tools(folder, thread)
    return Agent.open(database, planner=ScriptedModel([]), tools=tools, replan="never")


def begin(folder: Path, database: str) -> None:
    """Start a run, and fork it twice while it waits for the approval of its plan."""
    with opened(folder, database) as agent:
        run = agent.start("pay", plan=PLAN)
        for thread in THREADS:
            agent.fork(run.id, "rent", thread=thread)


def approve(folder: Path, database: str, thread: str) -> None:
    """Approve the plan of a fork, and write down what is asked after that, or how it ended."""
    with opened(folder, database, thread) as agent:
        run = agent.resume(thread, "approve")
        asked = [action["name"] for action in run.request["action_requests"]] if run.request is not None else []
        (folder / thread).write_text(" ".join(asked) or run.status)


def settle(folder: Path, database: str, thread: str) -> None:
    """Say that the uncertain payment happened, and write down what is asked after that, or how it ended."""
    with opened(folder, database, thread) as agent:
        run = agent.resume(thread)
        run = agent.resume(thread, run.decide(happened=[True]))
        asked = [action["description"] for action in run.request["action_requests"]] if run.request is not None else []
        (folder / thread).write_text(" ".join(asked) or run.status)
