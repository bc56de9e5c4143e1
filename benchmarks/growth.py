"""How cost grows with the number of steps: the database, and everything that is done with a plan."""

import gc
import time
from collections.abc import Callable
from typing import Any

from benchmarks.database import OpenDatabase, open_database, open_with_langgraphs_saver
from benchmarks.figures import Figure, at_most
from benchmarks.meter import Meter
from benchmarks.simulated import simulated_tools
from benchmarks.sizes import Sizes
from benchmarks.systems import OURS
from benchmarks.trial import run
from benchmarks.workloads import Workload, chain, layered, wide
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.text.drawing.mermaid import plan_mermaid
from planner_executor.graph.text.drawing.svg import plan_svg
from planner_executor.graph.text.drawing.text import plan_text

KILOBYTE = 1_000
WIDTH = 10


async def databases(sizes: Sizes) -> list[Figure]:
    """Measure the database after runs of growing length, with results of a kilobyte, for both savers."""
    figures = []
    for saver, opened in (("", open_database), (", LangGraph's own saver", open_with_langgraphs_saver)):
        for name, shape in (("side by side", wide), ("in a chain", chain)):
            sizes_mb = [await _size_mb(shape, steps, opened) for steps in sizes.databases]
            figures.append(_database(f"{name}{saver}", sizes_mb, sizes.databases))
    return figures


async def _size_mb(shape: Callable[..., Workload], steps: int, opened: OpenDatabase) -> float:
    workload = shape(steps, 0.0, result_characters=KILOBYTE)
    return (await run(OURS, workload, opened=opened)).database_bytes / 1e6


def _database(shape: str, sizes_mb: list[float], steps: tuple[int, ...]) -> Figure:
    """Linear means that a step more costs as much at the end as at the start, to a quarter."""
    slopes = [
        (sizes_mb[place] - sizes_mb[place - 1]) / (steps[place] - steps[place - 1]) for place in range(1, len(steps))
    ]
    told = ", ".join(f"{count}: {size:.2f} MB" for count, size in zip(steps, sizes_mb, strict=True))
    linear = slopes[-1] <= 1.25 * slopes[0]
    name = f"database, results of 1 KB, {shape}"
    return Figure(name, f"at most 5 MB for {steps[-1]} steps, linear", told, sizes_mb[-1] <= 5 and linear)


async def plans(sizes: Sizes) -> list[Figure]:
    """Measure what five times the steps cost, for each thing that is done with a plan."""
    figures = []
    for what, do in _jobs().items():
        few_s, many_s = (_took_s(do, layered(steps, WIDTH, 0.0), sizes.repeats) for steps in sizes.growth)
        figures.append(_grown(what, few_s, many_s, sizes.growth))
    few_s, many_s = [await _ran_s(layered(steps, WIDTH, 0.0), sizes.repeats) for steps in sizes.growth]
    return [*figures, _grown("run", few_s, many_s, sizes.growth)]


async def _ran_s(workload: Workload, repeats: int) -> float:
    return min([(await run(OURS, workload)).processor_s for _ in range(repeats)])


def _jobs() -> dict[str, Callable[[dict[str, Any]], object]]:
    specs = Toolbox(simulated_tools(Meter())).specs

    def validated(raw: dict[str, Any]) -> Plan:
        reading = read_plan(raw, specs)
        assert reading.plan is not None, reading.issues
        return reading.plan

    return {
        "validate": validated,
        "digest": lambda raw: Plan.model_validate(raw).digest,
        "render as text": lambda raw: plan_text(Plan.model_validate(raw)),
        "render as Mermaid": lambda raw: plan_mermaid(Plan.model_validate(raw)),
        "render as SVG": lambda raw: plan_svg(Plan.model_validate(raw)),
    }


def _took_s(do: Callable[[dict[str, Any]], object], workload: Workload, repeats: int) -> float:
    """Return processor seconds, the least of several: other work on the machine adds to them, and to caches missed."""
    times_s = []
    for _ in range(2 * repeats + 1):
        raw = workload.plan()
        gc.collect()
        begun_s = time.process_time()
        do(raw)
        times_s.append(time.process_time() - begun_s)
    return min(times_s)


def _grown(what: str, few_s: float, many_s: float, steps: tuple[int, int]) -> Figure:
    few, many = steps
    beside = f"{few_s:.3g} s and {many_s:.3g} s of processor time"
    return at_most(f"{what}: {many} steps over {few}", 6, many_s / few_s, beside=beside)
