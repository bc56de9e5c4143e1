"""What it costs to read a long run when it is taken up again."""

import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure, at_most
from benchmarks.sizes import Sizes
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.record.events import Arguments, CallFinished, CallStarted, Draft, RunStarted
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_key import RunKey

EVENTS = 3_000


async def reading(sizes: Sizes) -> list[Figure]:
    """Measure the processor time of reading a run's events, their chain checked, and of projecting its state."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = SqliteLedger(Path(folder) / "runs.db")
        try:
            run = await _written(ledger)
            times_s = [await _processor_s(ledger, run) for _ in range(2 * sizes.repeats + 1)]
        finally:
            await ledger.close()
    return [at_most(f"processor time of reading {EVENTS:,} events", 200, median(times_s) * 1e3, " ms")]


async def _written(ledger: SqliteLedger) -> RunKey:
    drafts = [Draft(RunStarted(goal="Read a long run"))]
    for number in range(EVENTS // 2 - 1):
        args, result = Arguments({"expression": f"{number} + 1"}), StepResult("succeeded", number + 1)
        started = CallStarted(key=f"k{number}", call=0, tool="sum", args=args, repeatable=True, revision=1)
        step = f"step_{number}"
        drafts += [Draft(started, step), Draft(CallFinished(result=result, call=0), step)]
    return await ledger.open_run("long", drafts)


async def _processor_s(ledger: SqliteLedger, run: RunKey) -> float:
    begun_s = time.process_time()
    project(await ledger.events(run))
    return time.process_time() - begun_s
