"""How the cost of looking at runs, and of starting one, depends on how many there are already."""

import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.figures import Figure, at_most
from benchmarks.sizes import Sizes
from planner_executor import AsyncAgent
from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.file import prepare
from planner_executor.graph.ledger.sqlite.schema import VERSION
from planner_executor.graph.ledger.tables.event_writer import EventWriter
from planner_executor.graph.ledger.tables.runs import head_of
from planner_executor.graph.ledger.tables.schema import create, set_version
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import ScriptedModel, drafted

LIMIT_MS = 50
BATCH = 1_000
"""Runs that are written in one transaction."""
PLAN = {"steps": [{"id": "look", "objective": "Look", "tool": "calculator", "args": {"expression": "6 * 7"}}]}


@dataclass(frozen=True)
class Looked:
    """Processor time in milliseconds, by what is looked for and how many runs there are; `started` is over empty."""

    looks_ms: Mapping[str, Mapping[int, float]]
    started: float
    beside: str

    @property
    def most(self) -> int:
        """The largest number of runs."""
        return max(next(iter(self.looks_ms.values())))

    def figures(self) -> list[Figure]:
        """Return what must be reached, and what was."""
        found = []
        for what, by_count in self.looks_ms.items():
            beside = ", ".join(f"{count:,}: {ms:.2g} ms" for count, ms in by_count.items() if count != self.most)
            found.append(at_most(f"{what}, of {self.most:,} runs", LIMIT_MS, by_count[self.most], " ms", beside))
        name = f"the start of a run beside {self.most:,} others over the start in an empty database"
        return [*found, at_most(name, 1.2, self.started, beside=self.beside)]


async def many_runs(sizes: Sizes) -> Looked:
    """Measure pages, searches and counters over growing numbers of runs, and the start of one more."""
    looks_ms: dict[str, dict[int, float]] = {what: {} for what in LOOKS}
    with tempfile.TemporaryDirectory() as folder:
        for count in sizes.runs:
            path = Path(folder) / f"{count}.db"
            write_runs(path, count)
            for what, look in LOOKS.items():
                looks_ms[what][count] = await _looked_ms(path, look, sizes)
        more, none = await _started_s([path, Path(folder) / "empty.db"], 10 * sizes.repeats)
    return Looked(looks_ms, more / none, f"{more * 1e3:.3g} ms and {none * 1e3:.3g} ms")


LOOKS: dict[str, Callable[[AsyncAgent], Awaitable[Any]]] = {
    "the first page": lambda agent: agent.list(),
    "a page in the middle": lambda agent: agent.list(before="run-50.1"),
    "the runs that wait": lambda agent: agent.list(status="waiting"),
    "a rare tag": lambda agent: agent.list(tag="rare"),
    "a text that no goal has": lambda agent: agent.list(text="no goal has this"),
    "runs by the beginning of their name": lambda agent: agent.runs.ledger.named("run-"),
    "counters and gauges": lambda agent: agent.runs.counters(),
}


async def _looked_ms(path: Path, look: Callable[[AsyncAgent], Awaitable[Any]], sizes: Sizes) -> float:
    async with AsyncAgent.open(path, planner=ScriptedModel([]), tools=[]) as agent:
        await look(agent)
        return median([await _processor_s(lambda: look(agent)) for _ in range(2 * sizes.repeats + 1)]) * 1e3


async def _started_s(paths: Sequence[Path], count: int) -> list[float]:
    """Return the median of so many starts in each database, in turns: the machine's speed may change."""
    taken_s: list[list[float]] = [[] for _ in paths]
    async with AsyncExitStack() as opened:
        agents = [
            await opened.enter_async_context(AsyncAgent.open(path, planner=ScriptedModel([PLAN] * (count + 1))))
            for path in paths
        ]
        for agent in agents:
            await agent.start("warm up")
        for _ in range(count):
            for agent, times_s in zip(agents, taken_s, strict=True):
                times_s.append(await _processor_s(partial(agent.start, "What is 6 * 7?")))
    return [median(times_s) for times_s in taken_s]


async def _processor_s(work: Callable[[], Awaitable[Any]]) -> float:
    begun_s = time.process_time()
    await work()
    return time.process_time() - begun_s


def write_runs(path: Path, count: int) -> None:
    """Write runs as they would be after a few steps: one in five waits, one in ten thousand has the tag `rare`."""
    prepare(path, 5.0)
    with closing(Connection(str(path))) as db:
        db.execute("BEGIN")
        create(db)
        set_version(db, VERSION)
        db.execute("COMMIT")
        writer = EventWriter(str(path), None)
        for begin in range(0, count, BATCH):
            db.execute("BEGIN")
            for number in range(begin, min(begin + BATCH, count)):
                _write(db, writer, number)
            db.execute("COMMIT")


def _write(db: Connection, writer: EventWriter, number: int) -> None:
    run = RunKey(f"run-{number}", 1)
    db.tell("INSERT INTO ledger_runs (thread, n) VALUES (%s, 1)", run.thread)
    tags = ["nightly", *(["rare"] if number % 10_000 == 77 else [])]
    goal = f"Audit why service number {number} is failing and draft a fix for it"
    call = {"key": f"k{number}", "call": 0, "tool": "search", "args": {"query": "x" * 40}, "repeatable": True}
    drafts = [
        drafted("run_started", {"goal": goal, "constraints": [], "tags": tags, "thread": run.thread, "n": 1}),
        drafted("model_started", {"key": "m", "role": "planner", "model": "scripted"}),
        drafted(
            "model_finished", {"key": "m", "usage": {"input_tokens": 900, "output_tokens": 90, "total_tokens": 990}}
        ),
        drafted("plan_revised", {"revision": 1, "plan": PLAN, "author": "planner"}),
        drafted("review_requested", {"request": 1, "asked": ["run_plan"], "error": None}),
    ]
    if number % 5:
        drafts += [
            drafted(
                "decided", {"decision": "approve", "by": "person", "approver": "os:ada", "settled": [], "given": {}}
            ),
            drafted("call_started", call, "look"),
            drafted("call_finished", {"call": 0, "status": "succeeded", "value": 42}, "look"),
            drafted("run_ended", {"status": "succeeded", "reason": "1 of 1 steps succeeded", "value": 42}),
        ]
    writer.write(db, head_of(db, writer.database, run), drafts)
