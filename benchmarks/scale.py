"""What long plans, long chains of models and many runs cost, each beside a tenth of it."""

import asyncio
import json
import resource
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import count as counting
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage

from benchmarks.doors import POLICY, chain, each, tools
from benchmarks.figures import Figure, at_most
from benchmarks.many_runs import LOOKS, write_runs
from benchmarks.meter import Meter
from benchmarks.simulated import SimulatedModel
from benchmarks.sizes import Sizes
from planner_executor import AsyncAgent
from planner_executor.graph.policy.retention import Retention
from planner_executor.graph.runs.retention import prune
from planner_executor.graph.testing import step

MOST = 1.3
"""One of ten times as many may cost so many times as much."""


ONE_STEP = {"steps": [step("look", "read")]}


@dataclass
class Taken:
    """What something took: processor seconds, the process's memory, the database, and the text of the review."""

    processor_s: float
    memory_mb: float = 0.0
    file_mb: float = 0.0
    page_kb: float = 0.0


async def steps_in_a_chain(folder: Path, count: int) -> float:
    """Run a chain of steps that a person approves, and return the kilobytes of its review."""
    return await _runs(folder, chain(count), 1)


async def items(folder: Path, count: int) -> float:
    """Run a step for each of many items."""
    return await _runs(folder, each(count), 1)


async def model_steps(folder: Path, count: int) -> float:
    """Run a chain of steps that a model does."""
    return await _runs(folder, {"steps": [step(f"s{n}", after=[f"s{n - 1}"] if n else []) for n in range(count)]}, 1)


async def runs(folder: Path, count: int) -> float:
    """Run a step, again and again, in one process."""
    return await _runs(folder, ONE_STEP, count)


async def searched(folder: Path, _: int) -> float:
    """Look at pages of runs, look for runs by status, tag, text and name, and count them."""
    async with AsyncAgent.open(folder / "runs.db", planner=_model(), tools=[]) as agent:
        for _ in range(SEARCHES):
            for look in LOOKS.values():
                await look(agent)
    return 0.0


async def pruned(folder: Path, count: int) -> float:
    """Remove the runs of a database that have ended."""
    async with AsyncAgent.open(folder / "runs.db", planner=_model(), tools=[]) as agent:
        found = await prune(agent.runs.ledger, Retention(time.time() + 60), "ada")
    assert found.runs >= count // 2, found.kept
    return 0.0


async def backed_up(folder: Path, _: int) -> float:
    """Copy a database."""
    async with AsyncAgent.open(folder / "runs.db", planner=_model(), tools=[]) as agent:
        await agent.runs.ledger.back_up(folder / "copy.db")
    (folder / "copy.db").unlink()
    return 0.0


JOBS: Mapping[str, tuple[Callable[[Path, int], Awaitable[float]], int]] = {
    "a step in a chain": (steps_in_a_chain, 10_000),
    "an item of a for_each": (items, 5_000),
    "a model step in a chain": (model_steps, 200),
    "a run in one process": (runs, 2_000),
    "a run that is searched": (searched, 100_000),
    "a run that is backed up": (backed_up, 100_000),
    "a run that is pruned": (pruned, 100_000),
}
STORED = (searched, backed_up, pruned)
"""What is done with runs that are there already, while another process approves more; the last removes them."""
SEARCHES = 20


async def scale(sizes: Sizes) -> list[Figure]:
    """Measure each job and a tenth of it, in processes of their own."""
    with tempfile.TemporaryDirectory() as stored:
        return [await figure(what, sizes, Path(stored)) for what in JOBS]


async def figure(what: str, sizes: Sizes, stored: Path) -> Figure:
    """Measure a job and a tenth of it; `stored` is the folder of the databases that jobs share."""
    print(f"measuring: {what}", file=sys.stderr, flush=True)
    job, count = JOBS[what]
    many = max(20, round(count * sizes.scale))
    place = stored if job in STORED else None
    small, large = [await _apart(what, number, place) for number in (many // 10, many)]
    ratio = large.processor_s / small.processor_s / 10
    return at_most(f"{what}: {many:,} over a tenth", MOST, ratio, beside=_told(small, large, many))


def _told(small: Taken, large: Taken, count: int) -> str:
    per = [1e3 * taken.processor_s / number for taken, number in ((small, count // 10), (large, count))]
    found = [f"{per[0]:.3g} ms and {per[1]:.3g} ms each"]
    for name, unit in (("memory", "MB"), ("file", "MB"), ("page", "KB")):
        one, other = (getattr(taken, f"{name}_{unit.lower()}") for taken in (small, large))
        found += [f"{name} {one:.3g} and {other:.3g} {unit}"] if other else []
    return "; ".join(found)


async def _runs(folder: Path, plan: dict[str, Any], count: int | None) -> float:
    """Approve runs of a plan, for ever if there is no count, and return the kilobytes of the last one's review."""
    options: dict[str, Any] = {"planner": _model(), "tools": tools(), "policy": POLICY, "replan": "never"}
    page = 0
    async with AsyncAgent.open(folder / "runs.db", max_steps=len(plan["steps"]), **options) as agent:
        for _ in counting() if count is None else range(count):
            run = await agent.start("read on", plan=plan)
            page = sum(len(asked["description"]) for asked in run.request["action_requests"]) if run.request else 0
            await agent.resume(run.id, "approve")
    return page / 1e3


def _model() -> SimulatedModel:
    return SimulatedModel(lambda _: AIMessage("done"), Meter(), latency_s=0.0)


async def _apart(what: str, count: int, stored: Path | None) -> Taken:
    if stored is None:
        return await _measured(what, count)
    folder = stored / str(count)
    if not folder.exists():
        folder.mkdir()
        await asyncio.to_thread(write_runs, folder / "runs.db", count)
    async with _load(folder):
        return await _measured(what, count, str(folder))


async def _measured(*words: object) -> Taken:
    done = await asyncio.create_subprocess_exec(*COMMAND, *map(str, words), stdout=PIPE)
    told, _ = await done.communicate()
    return Taken(**json.loads(told.splitlines()[-1]))


@asynccontextmanager
async def _load(folder: Path) -> AsyncIterator[None]:
    """Have another process begin and approve runs in the database within the block."""
    process = await asyncio.create_subprocess_exec(*COMMAND, LOAD, "0", str(folder))
    try:
        yield
    finally:
        process.kill()
        await process.wait()


COMMAND = (sys.executable, "-m", "benchmarks.scale")
LOAD = "load"


def main(what: str, count: str, stored: str | None = None) -> None:
    """Print what a job took; what is imported on first use is paid for before."""
    if what == LOAD:
        asyncio.run(_runs(Path(str(stored)), ONE_STEP, None))
    job, _ = JOBS[what]
    with tempfile.TemporaryDirectory() as first:
        asyncio.run(runs(Path(first), 1))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(stored or name)
        before_mb, begun_s = _memory_mb(), time.process_time()
        page_kb = asyncio.run(job(folder, int(count)))
        taken = Taken(time.process_time() - begun_s, _memory_mb() - before_mb, page_kb=page_kb)
        taken.file_mb = sum(path.stat().st_size for path in folder.glob("runs.db*")) / 1e6
    print(json.dumps(asdict(taken)))


def _memory_mb() -> float:
    """Return the most memory that the process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    main(*sys.argv[1:])
