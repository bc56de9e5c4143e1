"""A worker: looks for runs that nobody owns, and continues them, each by one worker only."""

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic, time

from planner_executor.graph.errors import (
    AgentError,
    LeaseLostError,
    LedgerUnavailableError,
    OtherTermsError,
    RunOwnedError,
    StaleRunError,
)
from planner_executor.graph.ledger.lease import PACE, Pace
from planner_executor.graph.ledger.run_index import Unfinished
from planner_executor.graph.ledger.run_states import projected
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.work.candidate import Candidate, due_in_s, hindrance
from planner_executor.graph.work.chore_tasks import ChoreTasks
from planner_executor.graph.work.chores import CHORES, Chore
from planner_executor.graph.work.continuing import Continuing, Fit
from planner_executor.graph.work.report import CONCURRENCY, Report
from planner_executor.graph.work.watch import Sight, is_abandoned, seen

AGAIN_S, LONGEST_S = 10.0, 600.0
"""A run that could not go on is tried again after so many seconds, twice as many each time, up to the longest."""
SOMEBODY_ELSES = (RunOwnedError, LeaseLostError, StaleRunError)
"""Errors that mean that another process was faster, or that a person decided: nothing to report."""


@dataclass(frozen=True)
class _InHand:
    """A run that this worker continues."""

    run: Candidate
    task: "asyncio.Task[None]"


@dataclass(frozen=True)
class _Failed:
    """A run that could not go on, or not yet: how long it rests, and until when of the worker's clock."""

    rest_s: float
    until_s: float


@dataclass
class Worker:
    """Continues runs until it is stopped, at most `concurrency` at a time.

    `report` is called on the event loop. `pace.look_s` is how often new events are looked for, `pace.lease_s` how long
    a run must not move before it counts as abandoned, `pace.beat_s` how often runs without new events are looked at.
    `clock` is monotonic, `now` is in Unix seconds.
    """

    runs: Runs
    continuing: Continuing
    report: Callable[[Report], None] = lambda _: None
    concurrency: int = CONCURRENCY
    pace: Pace = PACE
    chores: tuple[Chore, ...] = CHORES
    clock: Callable[[], float] = monotonic
    now: Callable[[], float] = time
    # Of single runs: those that are being continued, when each was last seen to move, at which event one was left to
    # people, and how long one rests after a failure. `_forget` drops what is noted of runs that are finished.
    _in_hand: dict[RunKey, _InHand] = field(default_factory=dict, init=False)
    _sights: Mapping[RunKey, Sight] = field(default_factory=dict, init=False)
    _left: dict[RunKey, int] = field(default_factory=dict, init=False)
    _failed: dict[RunKey, _Failed] = field(default_factory=dict, init=False)
    _position: str | None = field(default=None, init=False)
    _looked_s: float = field(default=-math.inf, init=False)
    _moved_s: float = field(default=-math.inf, init=False)
    _waits: bool = field(default=False, init=False)
    _woken: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _is_stopping: bool = field(default=False, init=False)
    _chore_tasks: ChoreTasks = field(init=False)

    def __post_init__(self) -> None:
        self._chore_tasks = ChoreTasks(self.clock)

    async def run(self, *, once: bool = False) -> None:
        """Work until `stop` is called; with `once`, until no run is left that could be continued.

        If it is cancelled, so are the runs in hand. A database that cannot be used is an error with `once` only.
        """
        self._moved_s = self.clock()
        try:
            await self._work(once)
            await self._let_go()
        finally:
            await self._chore_tasks.close()
            for held in self._in_hand.values():
                held.task.cancel()
            await self._wait(None)

    def stop(self) -> None:
        """Take up nothing more, and hand the runs in hand over to other workers before their next call."""
        self._is_stopping = True
        self._woken.set()

    async def _work(self, once: bool) -> None:
        rest_s = self.pace.look_s
        while not self._is_stopping:
            try:
                for sentence in await self._chore_tasks.turn(self.chores, self.runs):
                    self.report(Report("due", text=sentence))
                waits, rest_s = await self._look_if_due(rest_s)
            except LedgerUnavailableError as error:
                # With `once` there is no later try that could go better; work in hand is still waited for.
                if once and not self._in_hand:
                    raise
                self.report(Report("failed", text=str(error)))
                # A database that is away is asked less and less often, and never given up on.
                waits, rest_s = True, min(rest_s * 2, LONGEST_S)
            # Runs that wait, and that this worker watches, may yet fall to it, so it goes on.
            if once and not (self._in_hand or self._chore_tasks.is_busy) and not (waits and self._is_watching):
                return
            await self._rest(rest_s)

    @property
    def _is_watching(self) -> bool:
        """Whether some run has not yet been watched long enough to count as abandoned; `once` waits for that."""
        return self.clock() - self._moved_s <= self.pace.lease_s + self.pace.beat_s

    async def _look_if_due(self, rest_s: float) -> tuple[bool, float]:
        """Look at the unfinished runs if there are new events or it is time; return whether runs wait, and the rest."""
        changes = await self.runs.ledger.changes(self._position)
        is_new = self._position is None or bool(changes.runs) or not changes.is_complete
        self._position = changes.position
        # Without new events too: that a run is abandoned shows by what its process does not write.
        if is_new or self.clock() - self._looked_s >= self.pace.beat_s or self._woken.is_set():
            self._looked_s = self.clock()
            self._waits = await self._look()
        return self._waits, self.pace.look_s if is_new else min(rest_s * 2, self.pace.beat_s)

    async def _rest(self, rest_s: float) -> None:
        """Wait until a task ends, the worker is stopped, events may have been written, or the time is over."""
        waits = {
            asyncio.create_task(self._woken.wait()),
            asyncio.create_task(self.runs.ledger.wait_for_news(rest_s)),
        }
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waits:
                task.cancel()

    async def _look(self) -> bool:
        """Take up what is abandoned, as long as there is room; return whether there is more to wait for."""
        # Before the look: a run that ends during it has the worker look once more.
        self._woken.clear()
        found = await self.runs.ledger.unfinished()
        now_s = self.clock()
        self._sights = seen(self._sights, found, now_s)
        self._forget()
        waits = False
        for sight in self._sights.values():
            if self._is_stopping or not self._is_free(sight.found, now_s):
                continue
            waits = True
            if len(self._in_hand) < self.concurrency and is_abandoned(sight, now_s, self.pace.lease_s):
                await self._take_up(sight.found)
        return waits

    def _forget(self) -> None:
        """Forget what was noted of runs that are not unfinished any more."""
        for noted in (self._left, self._failed):
            for key in noted.keys() - self._sights.keys():
                del noted[key]

    def _is_free(self, found: Unfinished, now_s: float) -> bool:
        """Whether a run is not in this worker's hand, not left as it is, and does not rest after a failure."""
        failed = self._failed.get(found.run)
        rests = failed is not None and failed.until_s > now_s
        return found.run not in self._in_hand and self._left.get(found.run) != found.seq and not rests

    async def _take_up(self, found: Unfinished) -> None:
        try:
            run, fit = await self._examined(found.run)
            if (rest_s := due_in_s(run, self.now())) > 0:
                self._failed[found.run] = _Failed(0.0, self.clock() + rest_s)
            elif fit.lacks:
                self._leave(found.run, found.seq, fit.lacks)
            # Two workers may have come this far: the ledger gives the run to the first, if it has not moved since.
            elif await self.runs.ledger.set_aside(found):
                self._start(run, fit.sentence)
        except LedgerUnavailableError:
            raise
        except AgentError as error:
            self._has_failed(found.run, str(error))

    async def _examined(self, key: RunKey) -> tuple[Candidate, Fit]:
        """Return a run, and whether it can be continued here."""
        events = await self.runs.ledger.events(key)
        run = Candidate(key, await projected(events), events)
        if (why := hindrance(run)) is not None:
            return run, Fit(why)
        latest = await self.runs.latest(key.thread)
        if latest != key:
            return run, Fit(f"{latest.id} has taken its thread since")
        return run, await self.continuing.fit(run)

    def _start(self, run: Candidate, sentence: str) -> None:
        self.report(Report("taken up", run.key.id, sentence))
        task = asyncio.create_task(self._go_on(run))
        self._in_hand[run.key], self._moved_s = _InHand(run, task), self.clock()
        task.add_done_callback(lambda done: self._over(run.key, done))

    async def _go_on(self, run: Candidate) -> None:
        """Continue a run, and report how it stands then."""
        await self.continuing.go_on(run)
        now = await self.runs.show(run.key)
        # A run without a new event has not gone on, whatever the graph returned; it rests before the next try.
        if (await self.runs.ledger.events(run.key, after=run.record.seq)) or now.ended:
            self._failed.pop(run.key, None)
            self.report(Report("stopped", run.key.id, _standing(now)))
        else:
            self._has_failed(run.key, "it did not go on")

    def _over(self, key: RunKey, task: "asyncio.Task[None]") -> None:
        """Note how a run's task ended; after an unexpected error, a bug, this process leaves the run alone for good."""
        held = self._in_hand.pop(key)
        self._moved_s = self.clock()
        self._woken.set()
        error = None if task.cancelled() else task.exception()
        if isinstance(error, SOMEBODY_ELSES):
            return
        if isinstance(error, OtherTermsError):
            self._leave(key, held.run.record.seq, error.sentence)
        elif isinstance(error, AgentError):
            self._has_failed(key, str(error))
        elif error is not None:
            self._has_failed(key, f"{type(error).__name__}: {error}", math.inf)

    def _leave(self, key: RunKey, seq: int, why: str) -> None:
        """Leave a run to people for as long as it has no event after this one."""
        self._left[key] = seq
        self.report(Report("left", key.id, why))

    def _has_failed(self, key: RunKey, why: str, rest_s: float = AGAIN_S) -> None:
        if (before := self._failed.get(key)) is not None:
            rest_s = max(rest_s, min(before.rest_s * 2, LONGEST_S))
        self._failed[key] = _Failed(rest_s, self.clock() + rest_s)
        self.report(Report("failed", key.id, why))

    async def _let_go(self) -> None:
        """Hand over the runs in hand, and wait until they have stopped; a run between two nodes is asked again."""
        if self._in_hand:
            self.report(Report("stopping", text=f"{len(self._in_hand)} in hand"))
        while self._in_hand:
            for held in tuple(self._in_hand.values()):
                if not await self.continuing.let_go(held.run):
                    held.task.cancel()
            await self._wait(self.pace.beat_s)

    async def _wait(self, timeout_s: float | None) -> None:
        """Wait until the runs in hand have stopped, or for so many seconds."""
        if tasks := [held.task for held in self._in_hand.values()]:
            await asyncio.wait(tasks, timeout=timeout_s)


def _standing(run: Run) -> str:
    """Return how a run stands that went on."""
    if run.ended:
        return f"{run.status}{run.reason and ': '}{run.reason or ''}"
    return "waits for a person" if run.status == "waiting" else run.status
