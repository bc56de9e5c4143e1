"""A plan as a dataflow: each step starts as soon as its own dependencies have succeeded or were skipped."""

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from graphlib import TopologicalSorter

from planner_executor.graph.calls.tool_call import Admitted
from planner_executor.graph.errors import CapReachedError, StaleRunError
from planner_executor.graph.execution.kinds.tool import make
from planner_executor.graph.execution.starting import start_step
from planner_executor.graph.execution.step_outcome import NOT_NOW, StepOutcome, not_now
from planner_executor.graph.execution.step_work import StepWork, Task
from planner_executor.graph.large_work import done_aside, let_others
from planner_executor.graph.plan.schedule import blocked_by, waits_without
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.remaining import needed_by, needs, skipped_in
from planner_executor.graph.record.results import SETTLED, StepResult
from planner_executor.graph.record.trust_label import label_of_result


@dataclass
class Dataflow:
    """One pass over a plan: runs every step that can run, and returns when no further step can start.

    A running step holds one of `work.slots`; with `for_each`, each item holds one. Once a limit of the budget is
    reached (`limit`), running steps finish and no further step starts. The same holds with `stops_early` once a step
    has ended (`progressed`). A step whose call a cap across runs allows only later (`cap`) stops nothing else.

    Tasks belong to `run`: cancelling it cancels them. An outcome and the intents that it makes ready share a
    transaction (docs/decisions/0001-one-node-executor.md).
    """

    plan: Plan
    work: StepWork
    stops_early: bool
    progressed: bool = False
    results: dict[str, StepResult] = field(default_factory=dict)
    uncertain_calls: list[str] = field(default_factory=list)
    limit: str | None = None
    cap: CapReachedError | None = None

    def __post_init__(self) -> None:
        # A result that a person supplied counts whether or not the steps before it succeed, so its step waits for none.
        given = self.work.record.steps.supplied & self.work.record.steps.succeeded
        self._waits = waits_without(self.work.waits, given) if given else self.work.waits
        self._position = {step.id: position for position, step in enumerate(self.plan.steps)}
        self._sorter = TopologicalSorter(self._waits)
        self._sorter.prepare()
        self._ready = deque(self._in_plan_order(self._sorter.get_ready()))
        self._skip_cause: dict[str, str] = {}
        self._running = 0
        self._free_slots = 0
        self._waits_for_slot = False
        self._stale: StaleRunError | None = None
        self._ended: asyncio.Queue[StepOutcome | None] = asyncio.Queue()
        self._unwritten: list[StepOutcome] = []

    async def run(self) -> None:
        """Run the plan as far as possible, and set `results`, `uncertain_calls` and `limit`."""
        try:
            with self.work.gate.resting_on(self._write_ended):
                async with asyncio.TaskGroup() as tasks:
                    await self._drive(tasks)
        except BaseExceptionGroup as group:
            # Callers catch errors by type; a group would pass them by.
            raise _first(group) from None
        not_done = await done_aside(len(self.plan.steps), self._not_done)
        for number, (step, result) in enumerate(not_done.items(), 1):
            self._note(step, result)
            await let_others(number)

    def _not_done(self) -> dict[str, StepResult]:
        """Return the results of the steps that are skipped or blocked, as far as nothing was noted of them yet."""
        skipped = skipped_in(self.plan, self.results)
        found = {step: result for step, result in skipped.items() if self.results.get(step) != result}
        # With the skipped ones, so that no step is called blocked by a step that was left out.
        known = {**self.results, **found}
        stuck = [step for step, result in known.items() if result.status not in (*SETTLED, "pending")]
        for step, cause in blocked_by(self._waits, stuck).items():
            if step not in known:
                found[step] = StepResult("blocked", error=f"waits for {cause}, which {known[cause].status}")
        return found

    async def _drive(self, tasks: asyncio.TaskGroup) -> None:
        ended: list[StepOutcome] = []
        while True:
            calls, pieces = await self._start_ready(tasks, ended)
            may_start = await self._commit(calls)
            for number, end in enumerate(ended, 1):
                # Told only now, after the commit: what a client hears is on record.
                self._note(end.step, end.result)
                if end.needs_person:
                    self.work.reports.person(end.step, end.result)
                await let_others(number)
            made: list[tuple[str, Task]] = [
                (one.call.step, partial(make, self.work, self.plan.by_id[one.call.step], one)) for one in calls
            ]
            for step, work in [*made, *pieces]:
                if may_start:
                    self._begin(tasks, step, work)
                # A call that may not begin leaves its slot to the items of steps that are at work.
                elif self._holds_slot(step):
                    self.work.slots.release()
            if not self._running and not self._waits_for_slot and self._ended.empty():
                break  # a task that waits for a slot is progress too; so is a slot that became free during the commit
            ended = await self._next_ends()
            self._running -= len(ended)
            self._free_slots += sum(self._holds_slot(end.step) for end in ended)
            self._unwritten += ended
            for end in ended:
                self._settle(end)

        # Raised only now, because the outcomes of running steps must reach the ledger first (decision 0001).
        if self._stale is not None:
            raise self._stale

    async def _write_ended(self) -> None:
        """Write the outcomes so far: what is written next rests on them."""
        await self._commit([])

    async def _commit(self, calls: list[Admitted]) -> bool:
        """Write outcomes and intents; return whether the calls may be made.

        If the run has changed meanwhile, no call may: running steps finish first, then the error is raised.
        """
        # Taken before the write: what ends during it is part of the next one.
        ended, self._unwritten = self._unwritten, []
        evaluated, self.work.evaluated = self.work.evaluated, []
        events = [*evaluated, *(event for end in ended for event in end.events)]
        if events or calls:
            try:
                await self.work.gate.commit(events, calls, [end.kept for end in ended if end.kept])
            except StaleRunError as error:
                self._stale = error
                self.work.gate.effects.end_turns()  # also those of tasks that will not begin
                return False
        return True

    async def _next_ends(self) -> list[StepOutcome]:
        """Wait until a step ends or a slot becomes free, and return all steps that have ended by then."""
        # All that have ended by now share one transaction, since each waits for the disk.
        ended = [await self._ended.get()]
        while not self._ended.empty():
            ended.append(self._ended.get_nowait())
        return [end for end in ended if end is not None]

    async def _start_ready(
        self, tasks: asyncio.TaskGroup, ended: list[StepOutcome]
    ) -> tuple[list[Admitted], list[tuple[str, Task]]]:
        """Return the calls and tasks to start now; steps that end without work are settled and added to `ended`."""
        calls: list[Admitted] = []
        pieces: list[tuple[str, Task]] = []
        while self._may_start and self._ready:
            # Looked at, not taken: without a slot it stays the next one.
            step = self.plan.by_id[self._ready[0]]
            if self._holds_slot(step.id) and not await self._take_slot(tasks):
                break
            self._ready.popleft()
            opened = self._left_out(step) or await start_step(self.work, step)
            if isinstance(opened, StepOutcome):
                self._free_slots += self._holds_slot(step.id)
                self._settle(opened)
                ended.append(opened)
                self._unwritten.append(opened)
                await let_others(len(ended))  # a run that is tried again recalls the outcomes of all that succeeded
            elif isinstance(opened, Admitted):
                calls.append(opened)
            else:
                pieces.append((step.id, opened))
        # A slot of an ended step goes to the next ready one; a slot that no step needs is for items elsewhere.
        for _ in range(self._free_slots):
            self.work.slots.release()
        self._free_slots = 0
        return calls, pieces

    def _left_out(self, step: Step) -> StepOutcome | None:
        """Return the outcome of a step that is skipped because one that it waits for was, None if it may start."""
        needed = needed_by(step, self._waits[step.id], self._skip_cause)
        if needed is None:
            return None
        self._skip_cause[step.id] = self._skip_cause[needed]
        return StepOutcome(step.id, needs(self._skip_cause[needed]))

    async def _take_slot(self, tasks: asyncio.TaskGroup) -> bool:
        """Take a slot for a step, first from ended steps; return False if a task has to wait for one."""
        if self._free_slots:
            self._free_slots -= 1
        elif not self.work.slots.locked():
            await self.work.slots.acquire()
        else:
            if not self._waits_for_slot:
                self._waits_for_slot = True
                tasks.create_task(self._await_slot(), name="slot")
            return False
        return True

    async def _await_slot(self) -> None:
        await self.work.slots.acquire()
        self._free_slots, self._waits_for_slot = self._free_slots + 1, False
        # Wakes `_drive`, which waits for ends alone.
        self._ended.put_nowait(None)

    @property
    def _may_start(self) -> bool:
        return self._stale is None and self.limit is None and not (self.stops_early and self.progressed)

    def _begin(self, tasks: asyncio.TaskGroup, step: str, work: Task) -> None:
        self._running += 1
        self.work.reports.step(step, StepResult("running", started_at=time.time()))
        tasks.create_task(self._report(step, work), name=step)

    def _holds_slot(self, step: str) -> bool:
        """Whether a step holds a slot of its own; with `for_each`, its items do."""
        return self.plan.by_id[step].for_each is None

    async def _report(self, step: str, work: Task) -> None:
        try:
            end = await work()
        except StaleRunError as error:
            # Kept, not raised: the group would cancel the steps whose calls are under way.
            self._stale = error
            end = StepOutcome(step, StepResult("interrupted"))
        except NOT_NOW as reason:  # of a call, of a model's turn or of a judge, who is a model
            end = not_now(step, reason)
        self._ended.put_nowait(end)

    def _settle(self, end: StepOutcome) -> None:
        self.results[end.step] = end.result
        # A result that is recalled from the record has no events, and is no progress.
        self.progressed = self.progressed or bool(end.events)
        self.limit = self.limit or end.limit
        # The run goes on when the first of its caps allows a call again.
        if end.cap is not None and (self.cap is None or end.cap.wait_s < self.cap.wait_s):
            self.cap = end.cap
        self.uncertain_calls += [key for key in end.uncertain_calls if key not in self.uncertain_calls]
        if end.result.status == "succeeded":
            self.work.values[end.step] = end.value
            self.work.labels[end.step] = label_of_result(self.plan.by_id[end.step], end.label)
        elif end.result.status == "skipped":
            self._skip_cause.setdefault(end.step, end.step)
        if end.result.status in SETTLED:
            self._sorter.done(end.step)
            self._ready.extend(self._in_plan_order(self._sorter.get_ready()))

    def _note(self, step: str, result: StepResult) -> None:
        self.results[step] = result
        self.work.reports.step(step, result)

    def _in_plan_order(self, steps: tuple[str, ...]) -> list[str]:
        return sorted(steps, key=self._position.__getitem__)


def _first(error: BaseException) -> BaseException:
    """Return the first error of nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
