"""What takes a process of its own: importing the package, and taking up a run that another process left."""

import asyncio
import atexit
import gc
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from statistics import median

from benchmarks.database import open_database
from benchmarks.figures import Figure, at_most
from benchmarks.meter import Meter
from benchmarks.simulated import SimulatedModel, simulated_tools
from benchmarks.sizes import Sizes
from benchmarks.systems import OURS
from benchmarks.trial import config
from benchmarks.workloads import chain
from planner_executor import AsyncAgent
from planner_executor.graph.testing import ScriptedModel, step

HEAVY = "import planner_executor, sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


async def importing(sizes: Sizes) -> list[Figure]:
    """See what `import graph` imports, and how long it takes beside a Python that does nothing."""
    found = _python("-c", HEAVY).split()
    heavy = [name for name in found if name.startswith("lang")]
    times_s: dict[str, list[float]] = {"pass": [], "import planner_executor": []}
    for _ in range(sizes.repeats):
        for code, taken_s in times_s.items():
            begun_s = time.perf_counter()
            _python("-c", code)
            taken_s.append(time.perf_counter() - begun_s)
    ratio = median(times_s["import planner_executor"]) / median(times_s["pass"])
    told = f"{', '.join(heavy) or 'neither'}; {ratio:.2f} times an empty Python"
    return [Figure("`import planner_executor` imports", "neither langgraph nor langchain", told, not heavy)]


STARTS: Mapping[str, tuple[str, float]] = {
    "--help": ("import typer", 2.5),
    "--version": ("import typer", 2.5),
    "runs": ("import typer", 4),
    "show a.1": ("import typer", 4),
    "inbox": ("import typer", 4),
}
AGENT = "from planner_executor import Agent\nwith Agent.open(':memory:', tools=[]) as agent: "
FIRST_USES: Mapping[str, tuple[str, float]] = {
    "Agent, imported and opened": ("pass", 1.2),
    "Agent, with a list of runs": ("agent.list()", 1.3),
    "Agent, with a run that waits": ("agent.start('think', plan={'steps': [{'id': 'a', 'objective': 'think'}]})", 1.8),
}


async def starting(sizes: Sizes) -> list[Figure]:
    """Measure in turns what a command and the facade need to start, over what they stand on, in processor time."""
    command = "import sys; sys.argv = 'planner-executor {}'.split(); from planner_executor.command import main; main()"
    codes = {words: (command.format(words), beside, most) for words, (beside, most) in STARTS.items()}
    codes |= {what: (AGENT + use, "import langgraph.graph", most) for what, (use, most) in FIRST_USES.items()}
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        await _waiting_runs(folder / "planner-executor.db")
        for what, (code, beside, most) in codes.items():
            _processor_s(code, folder), _processor_s(beside, folder)  # what has to be compiled is paid for here
            turns = [(_processor_s(code, folder), _processor_s(beside, folder)) for _ in range(2 * sizes.repeats + 1)]
            ours_s, beside_s = (median(each) for each in zip(*turns, strict=True))
            told = f"{1000 * ours_s:.0f} ms and {1000 * beside_s:.0f} ms"
            figures.append(at_most(f"{what}: processor time over `{beside}`", most, ours_s / beside_s, beside=told))
    return figures


async def _waiting_runs(path: Path) -> None:
    """Leave a few runs that wait for a person, in the database that commands take by default."""
    async with AsyncAgent.open(path, planner=ScriptedModel([]), tools=[], policy={"approval": "always"}) as agent:
        for thread in "abcdefgh":
            await agent.start("think", plan={"steps": [step("think")]}, thread=thread)


@cache
def _compiled() -> str:
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    return folder


def _processor_s(code: str, folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    path = os.pathsep.join(filter(None, (str(Path.cwd()), os.environ.get("PYTHONPATH"))))
    here = {**os.environ, "PYTHONPATH": path, "PYTHONPYCACHEPREFIX": _compiled()}
    here.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled once
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=here, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def resuming(sizes: Sizes) -> list[Figure]:
    """Measure how long a new process takes to finish a run of which one step is left."""
    with tempfile.TemporaryDirectory() as folder:
        left = Path(folder) / "left.db"
        await leave(left, sizes.large)
        times_s = []
        for number in range(sizes.repeats):
            copy = Path(folder) / f"{number}.db"
            shutil.copyfile(left, copy)
            times_s.append(float(_python("-m", "benchmarks.processes", str(copy), str(sizes.large))))
    name = f"resume of a run with {sizes.large - 1} of {sizes.large} steps finished, beyond imports"
    return [at_most(name, 0.5, median(times_s), " s")]


async def leave(path: Path, steps: int) -> None:
    """Run all steps of a chain but the last, and stop."""
    workload, reached = chain(steps, 0.0), asyncio.Event()

    async def stop_at_last(step: str) -> None:
        if step == workload.pieces[-1].id:
            reached.set()
            await asyncio.Event().wait()

    meter = Meter()
    async with open_database(path) as database:
        model = SimulatedModel(OURS.script(workload), meter)
        app = OURS.build(model, simulated_tools(meter, before=stop_at_last), database)
        running = asyncio.create_task(app.ainvoke(OURS.given, config(), durability="sync"))
        await reached.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def take_up(path: Path, steps: int) -> float:
    """Resume the run in this process and return the seconds it took."""
    workload, meter = chain(steps, 0.0), Meter()
    begun_s = time.perf_counter()
    async with open_database(path) as database:
        app = OURS.build(SimulatedModel(OURS.script(workload), meter), simulated_tools(meter), database)
        state = await app.ainvoke(None, config(), durability="sync")
        taken_s = time.perf_counter() - begun_s
    assert state["status"] == "succeeded", state["reason"]
    assert [span.name for span in meter.tools] == [workload.pieces[-1].id], "a finished step ran again"
    return taken_s


def _python(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    gc.freeze()  # a collection in the measured time would also walk over everything imported
    print(asyncio.run(take_up(Path(sys.argv[1]), int(sys.argv[2]))))
