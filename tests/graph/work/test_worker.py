"""What a worker takes up, what it leaves, and what it does after a failure; the continuing itself is a fake."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from planner_executor.graph.errors import ConfigError, LedgerUnavailableError, RunOwnedError
from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.ledger.run_store import Changes
from planner_executor.graph.ledger.sqlite.callers_thread import CallersThread
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.ledger.sqlite.writers import SharedWriter
from planner_executor.graph.record.events import ASKED, HANDED_OVER, INTERRUPTED, Draft
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.testing import drafted
from planner_executor.graph.work.candidate import Candidate
from planner_executor.graph.work.chores import Chore
from planner_executor.graph.work.continuing import Fit
from planner_executor.graph.work.report import Report
from planner_executor.graph.work.worker import Worker

AT_ONCE = Pace(beat_s=0.0, lease_s=0.0, look_s=0.0)
EXECUTING = drafted("executing", {})
ENDED = drafted("run_ended", {"status": "succeeded", "reason": "done", "value": 1})


def started(origin: str | None = "facade") -> Draft:
    return drafted("run_started", {"goal": "g", "constraints": [], "origin": origin})


def paused(reason: str) -> Draft:
    return drafted("paused", {"reason": reason})


@dataclass
class Continued:
    """Ends each run that it continues, or raises; `together` is the most that it continued at a time."""

    ledger: MemoryLedger
    errors: list[Exception] = field(default_factory=list)
    missing: str = ""
    runs: list[str] = field(default_factory=list)
    together: int = 0
    _now: int = 0

    async def fit(self, run: Candidate) -> Fit:
        return Fit(self.missing)

    async def go_on(self, run: Candidate) -> None:
        self.runs.append(run.key.id)
        self._now += 1
        self.together = max(self.together, self._now)
        try:
            await asyncio.sleep(0)
            if self.errors:
                raise self.errors.pop(0)
            async with self.ledger.owned(run.key) as lease:
                await self.ledger.append(lease, [ENDED])
        finally:
            self._now -= 1

    async def let_go(self, run: Candidate) -> bool:
        return False


@dataclass
class Bench:
    """A worker over a memory, and what it reported."""

    memory: SharedWriter[CallersThread] | None = None
    reports: list[Report] = field(default_factory=list)
    now_s: float = 0.0

    def __post_init__(self) -> None:
        self.ledger = MemoryLedger(memory=self.memory)
        self.continued = Continued(self.ledger)
        self.worker = Worker(
            Runs(self.ledger), self.continued, self.reports.append, pace=AT_ONCE, clock=lambda: self.now_s
        )

    @property
    def lines(self) -> list[str]:
        return [report.line() for report in self.reports]


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize(
    "drafts",
    [
        [],
        [EXECUTING],
        [EXECUTING, paused(INTERRUPTED)],
        [EXECUTING, paused(HANDED_OVER)],
        [paused(ASKED), EXECUTING],
    ],
)
async def test_a_run_that_was_abandoned_interrupted_or_handed_over_goes_on(
    bench: Bench, drafts: Sequence[Draft]
) -> None:
    await bench.ledger.open_run("t", [started(), *drafts])
    await bench.worker.run(once=True)
    assert bench.lines == ["t.1 taken up", "t.1 succeeded: done"]


@pytest.mark.parametrize(
    ("drafts", "why"),
    [
        ([started(), paused(ASKED)], "a person paused it"),
        ([started(), paused(ASKED), drafted("steered", {"approver": "os:ada"})], "a person paused it"),
        ([started(None)], "a graph of its own"),
    ],
)
async def test_a_run_that_is_for_people_is_left_with_the_reason(
    bench: Bench, drafts: Sequence[Draft], why: str
) -> None:
    await bench.ledger.open_run("t", drafts)
    await bench.worker.run(once=True)
    (line,) = bench.lines
    assert line.startswith("t.1 left: ") and why in line and bench.continued.runs == []


async def test_runs_that_wait_or_have_ended_are_not_even_looked_at(bench: Bench) -> None:
    asked = drafted("review_requested", {"asked": ["run_plan"], "error": None, "request": 1})
    for last in (asked, ENDED):
        await bench.ledger.open_run("t", [started(), last])
    await bench.worker.run(once=True)
    assert bench.lines == []


async def test_a_run_whose_thread_has_a_later_one_is_left(bench: Bench) -> None:
    for _ in range(2):
        await bench.ledger.open_run("t", [started()])
    await bench.worker.run(once=True)
    assert bench.lines[0] == "t.1 left: t.2 has taken its thread since" and bench.continued.runs == ["t.2"]


async def test_a_run_is_left_once_for_all_that_is_missing_until_it_changes(bench: Bench) -> None:
    run = await bench.ledger.open_run("t", [started()])
    bench.continued.missing = "needs look"
    for _ in range(2):
        await bench.worker.run(once=True)
    async with bench.ledger.owned(run) as lease:
        await bench.ledger.append(lease, [EXECUTING])
    await bench.worker.run(once=True)
    assert bench.lines == ["t.1 left: needs look"] * 2


async def test_a_database_that_cannot_be_used_ends_a_worker_that_works_once_and_no_other(bench: Bench) -> None:
    class Gone(MemoryLedger):
        async def changes(self, since: str | None = None) -> Changes:
            raise LedgerUnavailableError(self.name, "gone")

    worker = Worker(Runs(Gone()), bench.continued, bench.reports.append, pace=AT_ONCE)

    with pytest.raises(LedgerUnavailableError):
        await worker.run(once=True)
    assert bench.lines == []
    going = asyncio.create_task(worker.run())
    while not bench.lines:
        await asyncio.sleep(0)
    worker.stop()
    await going
    assert "gone" in bench.lines[0]


async def test_two_workers_continue_each_run_once() -> None:
    one = Bench()
    other = Bench(one.ledger.memory)

    for thread in "abcdefgh":
        await one.ledger.open_run(thread, [started()])
    await asyncio.gather(one.worker.run(once=True), other.worker.run(once=True))
    assert sorted(one.continued.runs + other.continued.runs) == [f"{thread}.1" for thread in "abcdefgh"]


async def test_no_more_runs_are_in_hand_than_the_worker_may_have(bench: Bench) -> None:
    for thread in "abcdef":
        await bench.ledger.open_run(thread, [started()])
    bench.worker.concurrency = 2
    await bench.worker.run(once=True)
    assert len(bench.continued.runs) == 6 and bench.continued.together == 2


async def test_a_run_that_could_not_go_on_rests_twice_as_long_each_time(bench: Bench) -> None:
    await bench.ledger.open_run("t", [started()])
    bench.continued.errors = [ConfigError("no server"), ConfigError("no server")]
    for now_s, tries in ((0.0, 1), (9.0, 1), (10.0, 2), (29.0, 2), (30.0, 3)):
        bench.now_s = now_s
        await bench.worker.run(once=True)
        assert len(bench.continued.runs) == tries, now_s
    assert bench.lines[-1] == "t.1 succeeded: done" and bench.lines.count("t.1 could not go on: no server") == 2


async def test_a_fault_of_ours_leaves_that_run_alone_and_not_the_others(bench: Bench) -> None:
    for thread in "ab":
        await bench.ledger.open_run(thread, [started()])
    bench.continued.errors = [TypeError("a bug")]
    await bench.worker.run(once=True)
    bench.now_s = 1e9
    await bench.worker.run(once=True)
    assert bench.continued.runs == ["a.1", "b.1"] and "a.1 could not go on: TypeError: a bug" in bench.lines


async def test_who_loses_a_run_to_another_process_says_nothing_of_it(bench: Bench) -> None:
    await bench.ledger.open_run("t", [started()])
    bench.continued.errors = [RunOwnedError("runs.db", "t.1")]
    await bench.worker.run(once=True)
    assert set(bench.lines) <= {"t.1 taken up", "t.1 succeeded: done"}


async def test_a_worker_waits_for_runs_until_it_is_stopped(bench: Bench) -> None:
    working = asyncio.create_task(bench.worker.run())
    await bench.ledger.open_run("t", [started()])
    while "t.1 succeeded: done" not in bench.lines:
        await asyncio.sleep(0)
    assert not working.done()
    bench.worker.stop()
    await working


async def test_a_chore_that_takes_long_holds_up_no_other_chore_and_is_waited_for_at_the_end(bench: Bench) -> None:
    both = asyncio.Event()

    async def slow(_runs: Runs) -> Sequence[str]:
        await both.wait()
        return ["told the slow one"]

    async def quick(_runs: Runs) -> Sequence[str]:
        both.set()
        return ["closed a request"]

    bench.worker.chores = (Chore("slow", 60.0, slow), Chore("quick", 60.0, quick))
    await bench.worker.run(once=True)
    assert sorted(bench.lines) == ["closed a request", "told the slow one"]


async def test_chores_are_done_when_they_are_due_and_told(bench: Bench) -> None:
    async def nightly(_runs: Runs) -> Sequence[str]:
        return ["swept the floor"]

    bench.worker.chores = (Chore("sweep", 60.0, nightly),)
    for now_s in (0.0, 59.0, 60.0):
        bench.now_s = now_s
        await bench.worker.run(once=True)
    assert bench.lines == ["swept the floor"] * 2


async def test_a_run_that_is_paused_for_a_cap_is_taken_up_when_its_time_has_come(bench: Bench) -> None:
    bench.worker.now = lambda: 1000.0 + bench.now_s
    until = drafted("paused", {"reason": "at most 1 call of send a day, used up", "due_at": 1060.0})

    await bench.ledger.open_run("t", [started(), EXECUTING, until])
    for bench.now_s in (0.0, 61.0):
        before = list(bench.continued.runs)
        await bench.worker.run(once=True)
        assert before == []
    assert bench.lines == ["t.1 taken up", "t.1 succeeded: done"]
