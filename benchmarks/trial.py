"""One run of one system on a database of its own, and several of several systems side by side."""

import asyncio
import gc
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from langchain_core.tools import StructuredTool

from benchmarks.database import OpenDatabase, open_database, size_bytes
from benchmarks.meter import Meter
from benchmarks.simulated import MODEL_S, SimulatedModel, simulated_tools
from benchmarks.systems import System
from benchmarks.workloads import Workload

AT_ONCE = 16
"""How many steps may run at a time, in every system."""


@dataclass(frozen=True)
class Cost:
    """What a run took, or the median of several runs."""

    wall_s: float
    processor_s: float
    makespan_s: float
    after_planning_s: float
    orchestration_s: float
    model_calls: int
    prompt_characters: int
    longest_prompt: int
    database_bytes: int

    @classmethod
    def median_of(cls, costs: "Sequence[Cost]") -> "Cost":
        """Return the median of each figure; counts are the same in every run."""
        return cls(**{name: median(getattr(cost, name) for cost in costs) for name in cls.__dataclass_fields__})


def config(thread: str = "run") -> Any:
    """Return what every graph is invoked with."""
    return {"configurable": {"thread_id": thread}, "recursion_limit": 100_000, "max_concurrency": AT_ONCE}


async def run(
    system: System, workload: Workload, model_s: float = MODEL_S, opened: OpenDatabase = open_database
) -> Cost:
    """Run a workload once and return what it cost.

    Raises:
        AssertionError: The system did not do the work: a step is missing, done twice or before its time.
    """
    meter = Meter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.db"
        async with opened(path) as database:
            model = SimulatedModel(system.script(workload), meter, model_s)
            tools = simulated_tools(meter, workload.failing, workload.result_characters)
            app = system.build(model, tools, database)
            gc.collect()
            with meter.run():
                await app.ainvoke(system.given, config(), durability="sync")
        size = size_bytes(path)
    check(workload, meter)
    return Cost(
        wall_s=meter.wall_s,
        processor_s=meter.processor_s,
        makespan_s=meter.makespan_s,
        after_planning_s=meter.after_planning_s,
        orchestration_s=meter.orchestration_s,
        model_calls=len(meter.prompts),
        prompt_characters=sum(meter.prompts),
        longest_prompt=max(meter.prompts),
        database_bytes=size,
    )


async def side_by_side(systems: Sequence[System], workload: Workload, repeats: int) -> dict[str, Cost]:
    """Run a workload with several systems in turn, every other round in reverse; return medians by system name."""
    costs: dict[str, list[Cost]] = {system.name: [] for system in systems}
    for number in range(repeats):
        for system in systems if number % 2 == 0 else reversed(systems):
            costs[system.name].append(await run(system, workload))
    return {name: Cost.median_of(found) for name, found in costs.items()}


async def bare(workload: Workload) -> float:
    """Return the seconds that the functions of a workload without dependencies take, with nothing around them."""
    tool = next(tool for tool in simulated_tools(Meter()) if tool.name == workload.tool)
    assert isinstance(tool, StructuredTool) and tool.coroutine is not None
    places = asyncio.Semaphore(AT_ONCE)

    async def call(step: str) -> None:
        async with places:
            await tool.coroutine(**workload.args(step))

    gc.collect()
    begun_s = time.perf_counter()
    await asyncio.gather(*(call(piece.id) for piece in workload.pieces))
    return time.perf_counter() - begun_s


def check(workload: Workload, meter: Meter) -> None:
    """Make sure that each step was done once, after what it builds on; one that fails is done twice."""
    expected = {piece.id: 2 if piece.id in workload.failing else 1 for piece in workload.pieces}
    ended = {span.name: span.end_s for span in meter.tools}
    counts = dict.fromkeys(expected, 0)
    for span in meter.tools:
        counts[span.name] += 1
        assert all(ended[before] <= span.start_s for before in workload.waits[span.name]), f"{span.name} came too early"
    assert counts == expected, "a step is missing or was done twice"
