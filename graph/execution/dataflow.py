"""A plan as a dataflow: each step starts the moment its own dependencies are done."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import JsonValue

from graph.calls.gate import CallGate, Finished, Refused, ToolCall
from graph.calls.toolbox import Toolbox
from graph.errors import ResultError, StaleRunError, UnresolvedReferenceError
from graph.execution.model_step import ModelStep, StepFailed, StepUncertain
from graph.plan.canonical import digest
from graph.plan.references import resolve
from graph.plan.schedule import blocked_by, waits_for
from graph.plan.schema import Plan, Step
from graph.run.events import Draft
from graph.run.record import RunRecord
from graph.run.results import StepResult
from graph.run.values import Kept, keep, normalise

Announce = Callable[[str, StepResult], None]


@dataclass(frozen=True)
class StepEnd:
    """How a step ended, and what the ledger is told of it (nothing, where it was on record)."""

    step: str
    result: StepResult
    value: JsonValue = None
    tell: Finished | Draft | None = None
    kept: Kept | None = None
    doubt: str | None = None


@dataclass
class Dataflow:
    """One pass over a plan: runs what can run, and returns when nothing more can start.

    It owns its tasks: when `run` is cancelled, they are. Outcomes and the intents they make ready share a transaction.
    """

    plan: Plan
    record: RunRecord
    gate: CallGate
    toolbox: Toolbox
    model: BaseChatModel
    max_concurrency: int
    announce: Announce
    results: dict[str, StepResult] = field(default_factory=dict)
    values: dict[str, JsonValue] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._waits = waits_for(self.plan.steps)
        self._place = {step.id: place for place, step in enumerate(self.plan.steps)}
        self._sorter = TopologicalSorter(self._waits)
        self._sorter.prepare()
        self._ready = deque(self._in_plan_order(self._sorter.get_ready()))
        self._running = 0
        self._stale: StaleRunError | None = None
        self._ended: asyncio.Queue[StepEnd] = asyncio.Queue()

    async def run(self) -> None:
        """Run the plan as far as it goes; `results`, `values` and `doubts` then tell what came of it."""
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._drive(tasks)
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        stuck = [step for step, result in self.results.items() if result.status != "succeeded"]
        for step, cause in blocked_by(self._waits, stuck).items():
            self._note(step, StepResult("blocked", error=f"waits for {cause}, which {self.results[cause].status}"))

    async def _drive(self, tasks: asyncio.TaskGroup) -> None:
        ended: list[StepEnd] = []
        while True:
            calls, thinkers = await self._start_ready(ended)
            calls = await self._commit(ended, calls)
            for end in ended:
                self._note(end.step, end.result)
            for call in calls:
                self._begin(tasks, call.step, self._make(call))
            for step, args in thinkers if self._stale is None else ():
                self._begin(tasks, step.id, self._think(step, args))
            if not self._running:
                break
            ended = [await self._ended.get()]
            while not self._ended.empty():
                ended.append(self._ended.get_nowait())
            self._running -= len(ended)
            for end in ended:
                self._settle(end)

        if self._stale is not None:
            raise self._stale

    async def _commit(self, ended: list[StepEnd], calls: list[ToolCall]) -> list[ToolCall]:
        """Write what has ended and what is to start; return what may start.

        Where the run has changed meanwhile nothing more starts, and what is under way comes to its end first.
        """
        told = [end.tell for end in ended if end.tell is not None]
        if told or calls:
            try:
                await self.gate.commit(told, calls, [end.kept for end in ended if end.kept])
            except StaleRunError as error:
                self._stale = error
                return []
        return calls

    async def _start_ready(self, ended: list[StepEnd]) -> tuple[list[ToolCall], list[tuple[Step, dict[str, Any]]]]:
        """Return what is to start now; steps that end without a call are settled and added to `ended`."""
        calls: list[ToolCall] = []
        thinkers: list[tuple[Step, dict[str, Any]]] = []
        while self._stale is None and self._ready and self._running + len(calls) + len(thinkers) < self.max_concurrency:
            step = self.plan.by_id[self._ready.popleft()]
            opened = await self._open(step)
            if isinstance(opened, StepEnd):
                self._settle(opened)
                ended.append(opened)
            elif isinstance(opened, ToolCall):
                calls.append(opened)
            else:
                thinkers.append((step, opened))
        return calls, thinkers

    async def _open(self, step: Step) -> StepEnd | ToolCall | dict[str, Any]:
        """Return the step's call, a model step's arguments, or its end where nothing has to be done."""
        if self.record.failed_in(step.id, self.record.revision):
            return StepEnd(step.id, self.record.results[step.id])
        try:
            args: Any = resolve(dict(step.args), self.values)
            if step.tool is None:
                return await self._recalled(step, args) or args
            call = self.gate.call_of(step, step.tool, args)
        except (UnresolvedReferenceError, Refused) as error:
            return self._failed(step, str(error))
        if finished := await self.gate.recall(call):
            return StepEnd(step.id, finished.result, finished.value)
        if doubt := self.gate.doubt(call):
            return _uncertain(step, doubt.key)
        return call

    async def _recalled(self, step: Step, args: dict[str, Any]) -> StepEnd | None:
        """Return a model step's end where the ledger has it for the same inputs."""
        result = self.record.results.get(step.id)
        if (
            result is None
            or result.status != "succeeded"
            or self.record.inputs.get(step.id) != self._inputs(step, args)
        ):
            return None
        return StepEnd(step.id, result, await self.gate.value_of(result))

    async def _make(self, call: ToolCall) -> StepEnd:
        finished = await self.gate.perform(call)
        return StepEnd(call.step, finished.result, finished.value, finished)

    async def _think(self, step: Step, args: dict[str, Any]) -> StepEnd:
        started_at = time.time()
        results = {before: self.values[before] for before in self._waits[step.id]}
        work = ModelStep(step, args, self.gate, self.toolbox, self.model)
        try:
            value = normalise(await work.run(self.record.goal, results))
        except (StepFailed, ResultError) as error:
            return self._failed(step, str(error), started_at)
        except StepUncertain as error:
            return _uncertain(step, str(error))
        kept = keep(value)
        result = StepResult("succeeded", **kept.fields(), started_at=started_at, ended_at=time.time())
        return StepEnd(step.id, result, value, self._told(step, result, self._inputs(step, args)), kept)

    def _begin(self, tasks: asyncio.TaskGroup, step: str, work: Any) -> None:
        self._running += 1
        self.announce(step, StepResult("running", started_at=time.time()))
        tasks.create_task(self._report(step, work), name=step)

    async def _report(self, step: str, work: Any) -> None:
        try:
            end = await work
        except StaleRunError as error:
            self._stale = error
            end = StepEnd(step, StepResult("interrupted"))
        self._ended.put_nowait(end)

    def _settle(self, end: StepEnd) -> None:
        self.results[end.step] = end.result
        if end.doubt:
            self.doubts.append(end.doubt)
        if end.result.status == "succeeded":
            self.values[end.step] = end.value
            self._sorter.done(end.step)
            self._ready.extend(self._in_plan_order(self._sorter.get_ready()))

    def _note(self, step: str, result: StepResult) -> None:
        self.results[step] = result
        self.announce(step, result)

    def _failed(self, step: Step, error: str, started_at: float | None = None) -> StepEnd:
        now = time.time()
        result = StepResult("failed", error=error, started_at=started_at or now, ended_at=now)
        return StepEnd(step.id, result, tell=self._told(step, result, ""))

    def _told(self, step: Step, result: StepResult, inputs: str) -> Draft:
        payload = {**result.to_json(), "inputs": inputs, "revision": self.record.revision}
        return Draft("step_finished", payload, step.id)

    def _inputs(self, step: Step, args: Mapping[str, JsonValue]) -> str:
        """Return the digest of all that a model step's result rests on."""
        results: dict[str, JsonValue] = {before: self.values[before] for before in self._waits[step.id]}
        return digest([step.to_json(), dict(args), results])

    def _in_plan_order(self, steps: tuple[str, ...]) -> list[str]:
        return sorted(steps, key=self._place.__getitem__)


def _uncertain(step: Step, doubt: str) -> StepEnd:
    words = "its call may have taken effect already; a person has to say whether it did"
    return StepEnd(step.id, StepResult("uncertain", error=words), doubt=doubt)
