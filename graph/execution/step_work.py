"""What is to be done for a step that is ready: a call, a piece of work, or nothing."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from pydantic import JsonValue

from graph.calls.gate import CallGate
from graph.calls.meter import BudgetReached
from graph.calls.threads import run_sync
from graph.calls.tool_call import Finished, Held, ToolCall, Uncertain
from graph.calls.toolbox import Toolbox
from graph.chat_models.role_model import RoleModel
from graph.errors import ResultError, UnresolvedReferenceError
from graph.execution.criteria import Again, Criteria
from graph.execution.for_each import Items, Outcome, items_of
from graph.execution.model_step import ModelStep, StepFailed
from graph.execution.step_outcome import Account, StepOutcome, for_a_person, waiting
from graph.plan.canonical import digest
from graph.plan.references import needs_evaluation, resolve
from graph.plan.schema import ITEM, Step
from graph.policy.grants import Refused
from graph.record.run_state import RunState
from graph.record.trust_label import PLAN, USER, TrustLabel, argument_labels, joined, label_of_tool
from graph.record.values import normalise

Result = TypeVar("Result")
Task = Callable[[], Coroutine[Any, Any, StepOutcome]]
WAITING = {"ask": "waits for an answer", "gate": "waits for a person", "refine": "waits to be refined"}


@dataclass
class StepWork:
    """The steps of one pass over a plan; `values` and `labels` are of the steps that have succeeded so far."""

    record: RunState
    gate: CallGate
    toolbox: Toolbox
    executors: Mapping[str | None, RoleModel]
    waits: Mapping[str, tuple[str, ...]]
    at_once: asyncio.Semaphore
    criteria: Criteria
    values: dict[str, JsonValue] = field(default_factory=dict)
    labels: dict[str, TrustLabel] = field(default_factory=dict)

    async def open(self, step: Step) -> StepOutcome | ToolCall | Task:
        """Return the step's call or its work, or its end where nothing has to be done."""
        if self.record.failed_in(step.id, self.record.revision):
            return StepOutcome(step.id, self.record.results[step.id])
        try:
            return await self._opened(step)
        except (UnresolvedReferenceError, Refused) as error:
            return self._account(step).failed(str(error))
        except (Held, Uncertain, BudgetReached) as reason:
            return for_a_person(step.id, reason)

    async def make(self, step: Step, call: ToolCall) -> StepOutcome:
        """Make the step's call, the intent of which is written."""
        end = StepOutcome.of_call(await self.gate.perform(call))
        try:
            return await self._settled(step, end, lambda _: self._made_again(call))
        finally:
            self.gate.effects.end_turn(call)

    async def _opened(self, step: Step) -> StepOutcome | ToolCall | Task:
        if step.kind in WAITING:
            return await self._on_record(step) or waiting(step.id, WAITING[step.kind])
        if step.for_each is not None:
            items = await _evaluated(step.for_each, lambda: items_of(step, self.values))
            return await self._on_record(step, items) or (lambda: self._each(step, items))
        if step.kind == "gather":
            value = await _evaluated(step.gather, lambda: resolve(step.gather, self.values))
            if on_record := await self._on_record(step, value):
                return on_record
            gathered = self._account(step, value).succeeded(value, self._read(step))
            return (lambda: self._settled(step, gathered)) if self.criteria.has(step) else gathered
        args = await _evaluated(dict(step.args), lambda: step.filled_args(self.values))
        if step.tool is None:
            return await self._on_record(step, args) or (lambda: self._think(step, args))
        admitted = await self.gate.admit(step, step.tool, args, self._argument_labels(step))
        if isinstance(admitted, Finished):
            return self._recalled(step, admitted)
        in_turn = admitted.wait_s or admitted.queued
        return (lambda: self._make_in_turn(step, admitted)) if in_turn else admitted

    def _recalled(self, step: Step, finished: Finished) -> StepOutcome | Task:
        """Return the end of a step whose call is on record.

        The ledger may hold another end than that: under a plan with other criteria the result would not do, or the call
        was made by another step and a person says that it happened.
        """
        end = StepOutcome.of_call(finished, on_record=True)
        unchecked, criteria = step.id in self.record.unchecked, self.criteria.has(step)
        if end.result.status != "succeeded" or (step.id in self.record.succeeded and not unchecked):
            return end
        if not (unchecked and criteria):
            end = self._account(step).succeeded(end.value, end.label, called=end.called)
        return (lambda: self._looked_at_again(step, end, finished.call)) if criteria else end

    async def _looked_at_again(self, step: Step, end: StepOutcome, call: ToolCall) -> StepOutcome:
        is_its_turn = bool(call.same_digest) and self.gate.effects.take_turn(call)
        try:
            return await self._settled(step, end, lambda _: self._made_again(call))
        finally:
            if is_its_turn:
                self.gate.effects.end_turn(call)

    async def _make_in_turn(self, step: Step, call: ToolCall) -> StepOutcome:
        try:
            await self.gate.commit_in_turn(call)
        except Uncertain as reason:
            return for_a_person(step.id, reason)
        return await self.make(step, call)

    async def _made_again(self, call: ToolCall) -> StepOutcome:
        again = self.gate.again(call)
        await self.gate.commit_in_turn(again)
        return StepOutcome.of_call(await self.gate.perform(again))

    async def _settled(self, step: Step, end: StepOutcome, again: Again | None = None) -> StepOutcome:
        """Return how the step ends when its criteria are looked at; `again` repeats its work, where it may be."""
        specs = self.toolbox.specs
        repeatable = step.for_each is None and all(specs[name].repeatable for name in step.tool_names)
        try:
            return await self.criteria.settled(step, end, self._before(step), again if repeatable else None)
        except (Held, Uncertain, BudgetReached) as reason:
            return for_a_person(step.id, reason)

    async def _think(self, step: Step, args: Mapping[str, JsonValue]) -> StepOutcome:
        account = self._account(step, args)
        work = self._model_step(step, args)
        try:
            end = await self._thought(account, work, work.run(self.record.goal, self._before(step)))
        except (Held, Uncertain, BudgetReached) as reason:
            return for_a_person(step.id, reason)
        return await self._settled(step, end, lambda unmet: self._thought(account, work, work.mend(unmet)))

    async def _thought(self, account: Account, work: ModelStep, result: Coroutine[Any, Any, JsonValue]) -> StepOutcome:
        try:
            value = normalise(await result)
        except (StepFailed, ResultError) as error:
            return account.failed(str(error))
        return account.succeeded(value, work.label, called=work.called)

    async def _each(self, step: Step, items: list[JsonValue]) -> StepOutcome:
        account = self._account(step, items)
        tools = [label_of_tool(self.toolbox.specs[name]) for name in step.tool_names]
        ends = Items(step, self.at_once, joined([self._read(step), *tools]))
        await ends.do(partial(self._item, step, place, item) for place, item in enumerate(items))
        return await self._settled(step, ends.end(account, len(items)))

    async def _item(self, step: Step, place: int, item: JsonValue) -> Outcome:
        """Return what one item came to.

        Raises:
            StepFailed: It came to nothing.
        """
        values = {**self.values, ITEM: item}
        args = await _evaluated(dict(step.args), lambda: step.filled_args(values))
        if step.tool is None:
            work = self._model_step(step, args, place)
            return Outcome(
                normalise(await work.run(self.record.goal, {**self._before(step), ITEM: item})), work.label, work.called
            )
        admitted = await self.gate.admit(step, step.tool, args, self._argument_labels(step), item=place)
        if isinstance(admitted, ToolCall):
            await self.gate.commit_in_turn(admitted)
            admitted = await self.gate.perform(admitted)
            await self.gate.commit([admitted], [])
        if admitted.result.status != "succeeded":
            raise StepFailed(str(admitted.result.error))
        return Outcome(admitted.value, admitted.call.label, {step.tool: 1})

    def _model_step(self, step: Step, args: Mapping[str, JsonValue], item: int | None = None) -> ModelStep:
        model, labels = self.executors[step.executor], self._argument_labels(step)
        anew = self.record.begins_anew(step.id, item)
        return ModelStep(step, args, self.gate, self.toolbox, model, labels, self._read(step), item, anew)

    async def _on_record(self, step: Step, rests_on: Any = None) -> StepOutcome | None:
        """Return a step's end where the ledger has it for the same inputs, or a person has given it."""
        result = self.record.results.get(step.id)
        if result is None or result.status != "succeeded":
            return None
        if step.kind not in WAITING and self.record.inputs.get(step.id) != self._inputs(step, rests_on):
            return None
        label = self.record.labels.get(step.id, USER)
        return StepOutcome(step.id, result, await self.gate.value_of(result), label=label)

    def _account(self, step: Step, rests_on: Any = None) -> Account:
        inputs = self._inputs(step, rests_on) if rests_on is not None else ""
        return Account(step.id, inputs, self.record.revision, time.time())

    def _inputs(self, step: Step, rests_on: Any) -> str:
        """Return the digest of all that a step's result rests on."""
        return digest([step.to_json(), rests_on, self._before(step)])

    def _before(self, step: Step) -> dict[str, JsonValue]:
        """Return the results that a step rests on."""
        return {before: self.values[before] for before in self.waits[step.id]}

    def _read(self, step: Step) -> TrustLabel:
        """Return the label of all that a step gets to see, the words of the plan included."""
        own = PLAN if step.id in self.record.tainted else USER
        return joined([own, *(self.labels[before] for before in self.waits[step.id])])

    def _argument_labels(self, step: Step) -> dict[str, TrustLabel]:
        labels: Mapping[str, TrustLabel] = self.labels
        if step.for_each is not None:
            labels = {**labels, ITEM: joined(self.labels[ref.step] for ref in step.references_of_items())}
        return argument_labels(step, labels, tainted=step.id in self.record.tainted)


async def _evaluated(value: JsonValue, fill_in: Callable[[], Result]) -> Result:
    """Fill in the references of a value; on a thread if it may take long, so that the event loop goes on."""
    return await run_sync(fill_in) if needs_evaluation(value) else fill_in()
