"""What a small run costs: one step with an approval, beside a bare LangGraph graph of the same shape.

The bare graph has the same state, the same model, the same tool, and our checkpointer or LangGraph's own. It asks for a
plan, shows it, and calls the tool; it checks, records and bounds nothing.
"""

import json
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.tools import BaseTool
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from benchmarks.database import Database, open_database, open_with_langgraphs_saver
from benchmarks.figures import Figure, at_most
from benchmarks.meter import Meter
from benchmarks.simulated import SimulatedModel, simulated_tools
from benchmarks.sizes import Sizes
from planner_executor import AsyncAgent, build_graph
from planner_executor.graph.prompts.planner import PLANNER
from planner_executor.graph.state import State

RUNS = 100
MOST_TIMES, MOST_TIMES_SAME_SAVER, MOST_TIMES_FACADE = 2.4, 2.5, 1.1
MOST_KB = 10
STEP = {"id": "a", "objective": "look", "tool": "look", "args": {"step": "a", "seconds": 0.0, "given": []}}
PLAN = {"steps": [STEP]}


async def small_runs(sizes: Sizes) -> list[Figure]:
    """Measure processor time and database of runs of one step that a person approves."""
    with tempfile.TemporaryDirectory() as folder:
        times = await _times_ms(Path(folder), RUNS * sizes.repeats)
        kilobytes = await growth_kb(Path(folder) / "growth.db", RUNS)
    name = "a run of one step with an approval"
    return [
        *(
            at_most(
                f"{name}: processor time of {way} over {other}",
                most,
                times[way] / times[other],
                beside=f"{times[way]:.3g} ms and {times[other]:.3g} ms",
            )
            for way, other, most in COMPARED
        ),
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


BY_GRAPH, BY_FACADE = "`build_graph`", "`AsyncAgent`"
BARE, BARE_SAME_SAVER = "a bare graph's with LangGraph's saver", "a bare graph's with the same saver"
COMPARED = (
    (BY_GRAPH, BARE, MOST_TIMES),
    (BY_GRAPH, BARE_SAME_SAVER, MOST_TIMES_SAME_SAVER),
    (BY_FACADE, BY_GRAPH, MOST_TIMES_FACADE),
)


async def _times_ms(folder: Path, runs: int) -> dict[str, float]:
    """Return the median of each way; they take turns, so that what else the machine does is the same for all."""
    async with (
        open_database(folder / "ours.db") as one,
        open_database(folder / "bare.db") as other,
        open_with_langgraphs_saver(folder / "langgraphs.db") as langgraphs,
        AsyncAgent.open(folder / "facade.db", planner=_model(), tools=_tools()) as agent,
    ):
        ways = {
            BY_GRAPH: partial(_run, ours(one)),
            BY_FACADE: partial(_run_by_facade, agent),
            BARE: partial(_run, bare(langgraphs)),
            BARE_SAME_SAVER: partial(_run, bare(other)),
        }
        taken_ms: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(-WARM_UP, runs):
            for way in list(ways)[:: 1 if number % 2 else -1]:
                begun_s = time.process_time()
                await ways[way](str(number))
                taken_ms[way].append(1000 * (time.process_time() - begun_s))
    return {way: median(times[WARM_UP:]) for way, times in taken_ms.items()}


WARM_UP = 5


async def _run_by_facade(agent: AsyncAgent, thread: str) -> None:
    run = await agent.start(f"look at {thread}", thread=thread)
    run = await agent.resume(run.id, "approve")
    assert run.status == "succeeded", run.reason


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
