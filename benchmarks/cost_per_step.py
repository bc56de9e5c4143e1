"""What a step costs beyond its tool: written steps, many at once, and how often the model is asked."""

import asyncio
import tempfile
import time
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection, connect
from statistics import median

from benchmarks.figures import Figure, at_most
from benchmarks.simulated import MODEL_S
from benchmarks.sizes import Sizes
from benchmarks.systems import OURS
from benchmarks.trial import bare, run, side_by_side
from benchmarks.workloads import chain, wide

ROUNDS = 50
IDLE_S = 0.01


async def writing(sizes: Sizes) -> list[Figure]:
    """Measure steps whose intent must survive a power cut before the tool is called."""
    workload = chain(sizes.chains[-1], sizes.tool_s, tool="note")
    cost = (await side_by_side([OURS], workload, sizes.repeats))[OURS.name]
    each_ms = 1000 * cost.orchestration_s / len(workload.pieces)
    return [at_most(f"orchestration per write step, {workload.name}", 3, each_ms, " ms")]


async def many(sizes: Sizes) -> list[Figure]:
    """Measure steps side by side, with tools that take no time, beyond the tools' functions alone."""
    workload = wide(sizes.large, 0.0)
    ours_s, bare_s = [], []
    for _ in range(sizes.repeats):
        ours_s.append((await run(OURS, workload)).wall_s - MODEL_S)
        bare_s.append(await bare(workload))
    ours_ms, bare_ms = (1000 * median(times) / len(workload.pieces) for times in (ours_s, bare_s))
    name = f"orchestration per step beyond the bare tool call, {workload.name}"
    return [at_most(name, 0.6, ours_ms - bare_ms, " ms", f"the tool's function alone {bare_ms:.3g} ms")]


async def yardsticks() -> str:
    """Return what the machine itself takes for the two things that every step needs."""
    bare_s = median([await _bare_after_idling_s() for _ in range(ROUNDS)])
    with tempfile.TemporaryDirectory() as folder, closing(connect(Path(folder) / "run.db")) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE line (words TEXT)")
        light_s, full_s = (_commit_s(database, level) for level in ("NORMAL", "FULL"))
    return (
        f"On it and at that time, after {1000 * IDLE_S:g} ms of idling, a commit to SQLite took "
        f"{1000 * light_s:.2f} ms, one that waits for the disk {1000 * full_s:.2f} ms, and a tool's "
        f"function with nothing around it {1000 * bare_s:.2f} ms."
    )


async def _bare_after_idling_s() -> float:
    await asyncio.sleep(IDLE_S)
    return await bare(wide(1, 0.0))


def _commit_s(database: Connection, level: str) -> float:
    database.execute(f"PRAGMA synchronous={level}")
    times_s = []
    for _ in range(ROUNDS):
        time.sleep(IDLE_S)
        begun_s = time.perf_counter()
        with database:
            database.execute("INSERT INTO line VALUES (?)", ("x" * 500,))
        times_s.append(time.perf_counter() - begun_s)
    return median(times_s)


async def asking(sizes: Sizes) -> list[Figure]:
    """Count model calls and prompt characters for plans of growing length."""
    costs = [await run(OURS, chain(length, 0.0)) for length in sizes.chains]
    calls = {cost.model_calls for cost in costs}
    prompts = {cost.prompt_characters for cost in costs}
    steps = ", ".join(map(str, sizes.chains))
    told = f"calls {_some(calls)}, prompt characters {_some(prompts)}"
    name = f"model calls for {steps} deterministic steps that succeed"
    return [Figure(name, "1, prompt size constant", told, calls == {1} and len(prompts) == 1)]


def _some(found: set[int]) -> str:
    return ", ".join(map(str, sorted(found)))
