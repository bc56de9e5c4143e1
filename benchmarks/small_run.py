"""What a small run costs: one step with an approval, beside a bare LangGraph graph of the same shape.

The bare graph has the same state, the same checkpointer, the same model and the same tool. It asks for a plan, shows
it, and calls the tool; it checks, records and bounds nothing.
"""

import json
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.tools import BaseTool
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from benchmarks.database import Database, open_database
from benchmarks.figures import Figure, at_most
from benchmarks.meter import Meter
from benchmarks.simulated import SimulatedModel, simulated_tools
from benchmarks.sizes import Sizes
from planner_executor import build_graph
from planner_executor.graph.prompts.planner import PLANNER
from planner_executor.graph.state import State

RUNS = 100
MOST_TIMES = 2.5
MOST_KB = 10
STEP = {"id": "a", "objective": "look", "tool": "look", "args": {"step": "a", "seconds": 0.0, "given": []}}
PLAN = {"steps": [STEP]}


async def small_runs(sizes: Sizes) -> list[Figure]:
    """Measure processor time and database of runs of one step that a person approves."""
    with tempfile.TemporaryDirectory() as folder:
        ours_ms, bare_ms = await _times_ms(Path(folder), RUNS * sizes.repeats)
        kilobytes = await growth_kb(Path(folder) / "growth.db", RUNS)
    name = "a run of one step with an approval"
    beside = f"{ours_ms:.3g} ms and {bare_ms:.3g} ms"
    return [
        at_most(f"{name}: processor time over a bare graph's", MOST_TIMES, ours_ms / bare_ms, beside=beside),
        at_most(f"{name}: database", MOST_KB, kilobytes, " KB", f"the mean of {RUNS}"),
    ]


async def growth_kb(path: Path, runs: int) -> float:
    """Return by how much a run makes the database grow, once there are some."""
    async with open_database(path) as database:
        app = ours(database)
        for number in range(5):
            await _run(app, f"before {number}")
        before = _bytes(path)
        for number in range(runs):
            await _run(app, str(number))
        return (_bytes(path) - before) / runs / 1000


async def _times_ms(folder: Path, runs: int) -> tuple[float, float]:
    """Return the medians of both; they take turns, so that what else the machine does is the same for both."""
    async with open_database(folder / "ours.db") as one, open_database(folder / "bare.db") as other:
        apps = (ours(one), bare(other))
        for app in apps:
            await _run(app, "before")
        times_ms = [[await _took_ms(app, str(number)) for app in apps] for number in range(runs)]
    return median(ours for ours, _ in times_ms), median(bare for _, bare in times_ms)


async def _took_ms(app: Any, thread: str) -> float:
    begun_s = time.process_time()
    await _run(app, thread)
    return 1000 * (time.process_time() - begun_s)


async def _run(app: Any, thread: str) -> None:
    config = {"configurable": {"thread_id": thread}}
    goal = f"look at {thread}"
    await app.ainvoke({"goal": goal}, config, durability="sync")
    decided = {"decisions": [{"type": "approve"}]}
    state = await app.ainvoke(Command(resume=decided), config, durability="sync")
    assert state["status"] == "succeeded", state["reason"]


def ours(database: Database) -> Any:
    """Return our graph; each plan is shown to a person."""
    return build_graph(_model(), tools=_tools(), checkpointer=database.saver, ledger=database.ledger)


def bare(database: Database) -> Any:
    """Return a graph of the same shape that does nothing but the work."""
    model, tools = _model(), {tool.name: tool for tool in _tools()}

    async def planner(state: State) -> dict[str, Any]:
        asked = [SystemMessage(PLANNER), HumanMessage(json.dumps({"goal": state["goal"]}))]
        plan = json.loads(str((await model.ainvoke(asked)).text))
        said = AIMessage(f"To do: {plan['steps'][0]['objective']}", name="review")
        return {"plan": plan, "status": "waiting", "reason": None, "results": {}, "messages": [said]}

    async def review(state: State) -> dict[str, Any]:
        action = {"name": "run_plan", "args": {"plan": state["plan"]}, "description": "To do: look"}
        answer = interrupt({"action_requests": [action], "review_configs": []})
        return {"status": "running" if answer["decisions"][0]["type"] == "approve" else "rejected"}

    async def executor(state: State) -> dict[str, Any]:
        results = {}
        for step in state["plan"]["steps"]:
            value = await tools[step["tool"]].ainvoke(step["args"])
            results[step["id"]] = {"status": "succeeded", "value": value}
        return {"results": results, "status": "succeeded", "answer": value, "messages": [AIMessage(json.dumps(value))]}

    graph = StateGraph(State)
    graph.add_node("planner", planner)
    graph.add_node("review", review)
    graph.add_node("executor", executor)
    graph.add_edge(START, "planner")
    graph.add_conditional_edges("planner", lambda _: "review", ["review", END])
    graph.add_conditional_edges(
        "review", lambda state: "executor" if state["status"] == "running" else END, ["executor", END]
    )
    graph.add_conditional_edges("executor", lambda _: END, ["review", END])
    return graph.compile(checkpointer=database.saver)


def _model() -> SimulatedModel:
    def answer(_messages: Sequence[BaseMessage]) -> AIMessage:
        return AIMessage(json.dumps(PLAN))

    return SimulatedModel(answer, Meter(), latency_s=0.0)


def _tools() -> list[BaseTool]:
    return simulated_tools(Meter())


def _bytes(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.stat().st_size
