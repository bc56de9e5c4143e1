"""Many runs in one process with pruning on: memory, threads, descriptors and file size must stay flat.

Run it from the root of the repository: `python -m benchmarks.soak [--runs 20000]`, or `make soak`. A run reads
a large text, an artifact of its own. One run in ten also acts, after its plan is approved, and one in ten is cancelled
while it waits.
"""

import argparse
import asyncio
import os
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.page import PAGE, measured_by, write_between_marks
from planner_executor import AsyncAgent
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.policy.retention import Retention
from planner_executor.graph.runs.retention import missing, prune
from planner_executor.graph.testing import LoggedTools, ScriptedModel

RUNS = 20_000
AT_ONCE = 8
SAMPLES = 20
TEXT_CHARACTERS = 12_000
KEPT_S = 30.0
"""Threads are pruned when nothing has happened in them for so long: on a busy machine an ended run is read late."""
PRUNED_EACH_S = 5.0
MEMORY_GROWTH = 1.05
FILE_GROWTH = 1.25
COUNT_GROWTH = 1.2
TOMBSTONE_BYTES = 400
"""What a removed thread may leave behind in the file."""
LOOK = {"id": "look", "objective": "Look", "tool": "look", "args": {"what": "wind"}}
SEND = {"id": "send", "objective": "Send", "tool": "send", "args": {"to": "ada"}, "depends_on": ["look"]}


@dataclass(frozen=True)
class Sample:
    """The process and its database after so many runs; sizes are in bytes, `run_ms` is processor time per run."""

    runs: int
    memory: int
    threads: int
    descriptors: int
    file: int
    kept: int
    tombstones: int
    run_ms: float

    @property
    def file_without_tombstones(self) -> int:
        """The file's size without what removed threads may leave behind."""
        return self.file - self.tombstones * TOMBSTONE_BYTES

    def row(self) -> str:
        """Return a line of the table."""
        return (
            f"| {self.runs:,} | {self.memory / 1e6:.0f} | {self.threads} | {self.descriptors} | {self.file / 1e6:.1f} "
            f"| {self.kept:,} | {self.tombstones:,} | {self.run_ms:.0f} |"
        )


HEAD = (
    "| runs | memory, MB | threads | descriptors | file, MB | runs in it | tombstones | processor time per run, ms |\n"
    f"|{'--:|' * 8}"
)


async def soak(path: Path, runs: int) -> list[Sample]:
    """Make so many runs, and return samples of the process and its database."""
    samples: list[Sample] = []
    async with agent_over(path) as agent:
        await agent.start("warm up", plan={"steps": [], "answer": 1})
        ledger = agent.runs.ledger
        for begin in range(0, runs, share := max(runs // SAMPLES, AT_ONCE)):
            before = time.process_time()
            await _share(agent, ledger, range(begin, min(begin + share, runs)))
            done = min(begin + share, runs)
            samples.append(await _sampled(path, ledger, done, (time.process_time() - before) / share))
            print(samples[-1].row(), flush=True)
        _, findings = await missing(ledger)
        assert findings == [], findings
    return samples


def agent_over(path: Path) -> AsyncAgent:
    """Return an agent whose tools take no time."""
    tools = LoggedTools()

    def look(what: str) -> dict[str, str]:
        return {"found": f"{what} {time.time_ns()}", "text": "wind and waves " * (TEXT_CHARACTERS // 15)}

    def send(to: str) -> str:
        tools.calls.clear()  # the log of this fake is not what is measured
        return to

    own = [tools.tool("look", look, effect="read"), tools.tool("send", send, effect="external")]
    return AsyncAgent.open(path, planner=ScriptedModel([]), tools=own, approval="side_effects")


async def _share(agent: AsyncAgent, ledger: RunStore, numbers: Sequence[int]) -> None:
    """Make runs, a few at a time, and prune what is old meanwhile."""
    left = iter(numbers)

    async def work() -> None:
        for number in left:
            await _run(agent, number)

    async with asyncio.TaskGroup() as tasks:
        workers = [tasks.create_task(work()) for _ in range(AT_ONCE)]
        tasks.create_task(_prune_while(ledger, workers))


async def _run(agent: AsyncAgent, number: int) -> None:
    acts = number % 10 < 2
    plan = {"steps": [LOOK, SEND] if acts else [LOOK], "answer": "{look_result.found}"}
    run = await agent.start("Look at the wind", plan=plan, thread=f"soak-{number}")
    if acts:
        run = await (agent.cancel(run.id) if number % 10 else agent.resume(run.id, "approve"))
    assert run.status == ("cancelled" if number % 10 == 1 else "succeeded"), run.reason


async def _prune_while(ledger: RunStore, workers: Sequence["asyncio.Task[None]"]) -> None:
    """Prune what is old for as long as the runs go on, and then all of them."""
    while not all(worker.done() for worker in workers):
        done = await prune(ledger, Retention(time.time() - KEPT_S), "os:soak")
        assert all(kept.obstacle in ("waiting", "unfinished", "executing", "changed") for kept in done.kept), done.kept
        await asyncio.wait(workers, timeout=PRUNED_EACH_S)
    assert not (await prune(ledger, Retention(time.time()), "os:soak")).kept


async def _sampled(path: Path, ledger: RunStore, done: int, run_s: float) -> Sample:
    files = (path, path.with_name(f"{path.name}-wal"))
    return Sample(
        runs=done,
        memory=int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
        threads=threading.active_count(),
        descriptors=len(os.listdir("/proc/self/fd")),  # noqa: PTH208  (the folder changes while it is listed)
        file=sum(file.stat().st_size for file in files if file.exists()),
        kept=len(await ledger.runs()),
        tombstones=_count(path),
        run_ms=run_s * 1000,
    )


def _count(path: Path) -> int:
    """Return the number of tombstones; reading them all would be seen in the memory that is measured."""
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("SELECT count(*) FROM ledger_tombstones").fetchone()[0])


def findings(samples: Sequence[Sample]) -> list[str]:
    """Return what grew from the second quarter of the samples to the last."""
    quarter = max(len(samples) // 4, 1)
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]

    def grew(name: str, most: float) -> list[str]:
        before, after = (max(getattr(one, name) for one in part) for part in (early, late))
        return [f"{name} grew from {before:,} to {after:,}"] if after > most * before else []

    sizes = grew("memory", MEMORY_GROWTH) + grew("file_without_tombstones", FILE_GROWTH)
    return sizes + grew("threads", COUNT_GROWTH) + grew("descriptors", COUNT_GROWTH)


def main() -> int:
    """Soak, print a table, and return 1 if something grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    given: Any = parser.parse_args()
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        samples = asyncio.run(soak(Path(folder) / "runs.db", given.runs))
    grown = findings(samples)
    verdict = "\n".join(grown) if grown else "Flat: memory, threads, descriptors and file size."
    print(verdict)
    if given.runs == RUNS:
        rows = [sample.row() for sample in samples]
        table = "\n".join([HEAD, *rows])
        write_between_marks(PAGE, f"{table}\n\n{verdict} {measured_by('make soak')}", "soak")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
