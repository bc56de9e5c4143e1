"""The shared context of the steps in one pass over a plan: the run, the gate, and the results so far."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import JsonValue

from planner_executor.graph.calls.gate import CallGate
from planner_executor.graph.calls.owned_run import CLOCK
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.calls.tool_call import Admitted
from planner_executor.graph.chat_models.retry import Clock
from planner_executor.graph.chat_models.role_model import RoleModel
from planner_executor.graph.execution.criteria import Again, Criteria
from planner_executor.graph.execution.model_step import MAX_TURNS
from planner_executor.graph.execution.reports import Reports
from planner_executor.graph.execution.step_outcome import StepAttempt, StepOutcome
from planner_executor.graph.plan.attempts import AttemptLimits
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.references import SKIPPED, needs_evaluation
from planner_executor.graph.plan.schema import ITEM, Step
from planner_executor.graph.record.events import Brief, Draft
from planner_executor.graph.record.plan_marks import plan_marks
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.trust_label import (
    PLAN,
    USER,
    TrustLabel,
    argument_labels,
    joined,
    label_of_params,
)

Result = TypeVar("Result")
Task = Callable[[], Coroutine[Any, Any, StepOutcome]]
Started = StepOutcome | Admitted | Task
"""A started step: its outcome if there is no work, its one admitted call, or a task, which may raise `NOT_NOW`."""


@dataclass
class StepWork:
    """The steps of one pass over a plan; `values` and `labels` are those of the steps that have succeeded so far.

    A running step holds one of `slots`; with `for_each`, each item holds one. `evaluated` has the events of conditions
    that are not written yet.
    """

    record: RunState
    gate: CallGate
    executors: Mapping[str | None, RoleModel]
    waits: Mapping[str, tuple[str, ...]]
    slots: asyncio.Semaphore
    criteria: Criteria
    reports: Reports
    clock: Clock = CLOCK
    time_zone: str = "UTC"
    values: dict[str, JsonValue] = field(default_factory=dict)
    labels: dict[str, TrustLabel] = field(default_factory=dict)
    evaluated: list[Draft] = field(default_factory=list)

    def limits_of(self, step: Step) -> AttemptLimits:
        """Return how long and how often a step may be tried, by its own fields, the policy and the settings."""
        return self.gate.run.limits.lowest(step.attempt_limits)

    async def recorded(self, step: Step) -> StepOutcome | None:
        """Return a recorded success of a step, whatever its inputs were."""
        result = self.record.steps.results.get(step.id)
        if result is None or result.status != "succeeded":
            return None
        label = self.record.steps.labels.get(step.id, USER)
        return StepOutcome(step.id, result, await self.gate.value_of(result), label=label)

    async def reusable(self, step: Step, rests_on: Any) -> StepOutcome | None:
        """Return a recorded success of a step with the same inputs."""
        # Under a new revision the same step may rest on other results.
        is_same = self.record.steps.inputs.get(step.id) == self._inputs(step, rests_on)
        return await self.recorded(step) if is_same else None

    async def assess(self, step: Step, end: StepOutcome, again: Again | None = None) -> StepOutcome:
        """Return the outcome once the step's criteria are assessed; `again` repeats its work if that is allowed."""
        specs = self.gate.run.toolbox.specs
        # The work of a step is repeated as a whole, so each tool that it may call has to be repeatable.
        repeatable = step.for_each is None and all(specs[name].repeatable for name in step.tool_names)
        retry = self._reported(step, again) if again is not None and repeatable else None
        return await self.criteria.assess(step, end, self.before(step), retry)

    def _reported(self, step: Step, again: Again) -> Again:
        """Return what repeats the work of a step, which is reported first."""

        def retry(why: str) -> Coroutine[Any, Any, StepOutcome]:
            self.reports.again(step.id, why)
            return again(why)

        return retry

    def attempt(self, step: Step, rests_on: Any = None) -> StepAttempt:
        """Return an attempt that begins now; `rests_on` are its inputs besides the step and its dependencies."""
        inputs = self._inputs(step, rests_on) if rests_on is not None else ""
        return StepAttempt(step.id, inputs, self.record.plan_state.revision, time.time())

    def before(self, step: Step) -> dict[str, JsonValue]:
        """Return the results of a step's dependencies; what was skipped has none."""
        return {before: self.values[before] for before in self.waits[step.id] if before in self.values}

    def values_for(self, step: Step) -> Mapping[str, JsonValue]:
        """Return the results that a step's references resolve to; what was skipped is `SKIPPED`."""
        # Only a step that runs `if any` may refer to one that was skipped; for others it is no value at all.
        skipped = () if step.run_if is None else [one for one in self.waits[step.id] if one not in self.values]
        return {**self.values, **dict.fromkeys(skipped, SKIPPED)} if skipped else self.values

    def shown(self, step: Step, item: JsonValue = None) -> dict[str, JsonValue]:
        """Return what a step's model is shown of earlier results, and of the item with `for_each`.

        An item stands for the list that it is from, and what the arguments hold as a whole is not shown twice.
        """
        if step.for_each is None:
            return self.before(step)
        lists = {reference.step for reference in step.references_of_items()}
        found = {name: value for name, value in self.before(step).items() if name not in lists}
        in_args = any(one.is_whole(ITEM) for found in step.argument_references.values() for one in found)
        return found if in_args else {**found, ITEM: item}

    def brief(self, step: Step, item: int | None) -> Brief:
        """Return what a step's model is told at its start beside the plan and the results."""
        calls = dict.fromkeys(step.tools, step.max_calls or 1)
        date = self.clock.date(step.id, item, self.time_zone)
        constraints = self.record.assignment.told_to(step)
        return Brief(constraints=constraints, date=date, calls=calls, turns=MAX_TURNS)

    def label_read(self, step: Step) -> TrustLabel:
        """Return the label of everything that a step reads, the plan's text included."""
        own = PLAN if step.id in self.record.plan_state.tainted else USER
        before = (self.labels[one] for one in self.waits[step.id] if one in self.labels)
        return joined([own, label_of_params(step), *before])

    def argument_labels(self, step: Step) -> dict[str, TrustLabel]:
        """Return argument -> label for the arguments in the plan."""
        return argument_labels(step, self.labels, plan_marks(self.record, step))

    def _inputs(self, step: Step, rests_on: Any) -> str:
        """Return the digest of a step's inputs."""
        params = [{name: param.value for name, param in step.params.items()}] if step.params else []
        return digest([step.to_json(), rests_on, self.before(step), *params])


async def evaluated(value: JsonValue, fill_in: Callable[[], Result]) -> Result:
    """Resolve the references of a value, on a thread if it may take long enough to block the event loop."""
    return await run_sync(fill_in) if needs_evaluation(value) else fill_in()
