"""Runs of one system, several at a time, and what they took; executed in this process."""

import asyncio
import gc
import time
from dataclasses import dataclass
from statistics import quantiles
from typing import Any

from benchmarks.crowd_systems import SYSTEMS
from benchmarks.database import open_database
from benchmarks.sizes import Sizes


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


async def measured(address: str, crowd: Crowd, sizes: Sizes, names: str) -> Measured:
    """Execute a crowd in this process; the first three runs are not counted."""
    count = max(crowd.at_once, sizes.least_runs)
    async with open_database(address) as database:
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
