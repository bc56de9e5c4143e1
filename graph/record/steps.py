"""The steps of a run: their results, and how often they failed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.events import (
    CallFinished,
    ConditionEvaluated,
    Event,
    Inherited,
    PlanRevised,
    ResultSupplied,
    RunReopened,
    StepChecked,
    StepFinished,
    StepSkipped,
)
from planner_executor.graph.record.remaining import skipped_by, skipped_in
from planner_executor.graph.record.results import SETTLED, StepResult, StepStatus
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.trust_label import USER, TrustLabel

UNCHECKED = "its result has not been checked yet"


@dataclass
class Steps:
    """The results of a run's steps by id; changed by events only.

    `result_pass` has the pass in which a step got its result. `unchecked` has results whose criteria are not
    checked yet. `inputs` are digests of the inputs of model steps, `labels` the trust labels of results, `missing` the
    missing parts of succeeded steps, `judged` the steps whose natural-language criterion a judge has judged. `retries`
    counts further attempts under the revision in force, `failed` final failures of a step or of an item, and
    `failed_before` those of them before the run was reopened last. `supplied` has steps whose results a person gave, or
    a fork inherited; `givers` the person of each that was given; `answers` the questions that a person answered.
    `conditions` says of steps whether their condition is met: a step has none before it is evaluated, and again once a
    result that it reads is another one.
    `earlier` has the results of former definitions of steps that have not run since. `of_plan` are the steps of the
    plan in force, of which `succeeded_of_plan` succeeded: counting them at each event would take longer and longer.
    """

    results: dict[str, StepResult] = field(default_factory=dict)
    result_pass: dict[str, Pass] = field(default_factory=dict)
    unchecked: dict[str, StepResult] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    labels: dict[str, TrustLabel] = field(default_factory=dict)
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    judged: set[str] = field(default_factory=set)
    retries: Counter[str] = field(default_factory=Counter)
    failed: Counter[tuple[str, int | None]] = field(default_factory=Counter)
    failed_before: Counter[tuple[str, int | None]] = field(default_factory=Counter)
    supplied: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)
    earlier: dict[str, StepResult] = field(default_factory=dict)
    givers: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, bool] = field(default_factory=dict)
    of_plan: frozenset[str] = frozenset()
    succeeded_of_plan: int = 0
    _succeeded: frozenset[str] | None = field(default=None, init=False, compare=False, repr=False)

    @property
    def succeeded(self) -> frozenset[str]:
        """Ids of the steps that succeeded; cached until the next result."""
        if self._succeeded is None:
            self._succeeded = frozenset(step for step, result in self.results.items() if result.status == "succeeded")
        return self._succeeded

    @property
    def ran(self) -> dict[str, StepResult]:
        """The results by id, of former definitions too whose steps have not run since."""
        return {**self.earlier, **self.results}

    def unjudged(self, plan: Plan) -> list[str]:
        """Return the succeeded steps whose natural-language criterion was not judged, in the order of the plan."""
        return [step.id for step in plan.steps if step.success_criteria and step.id in self.succeeded - self.judged]

    def is_settled(self, step: str) -> bool:
        """Return whether the step succeeded or was skipped, so that nothing is left to do for it."""
        return step in self.results and self.results[step].status in SETTLED

    def has_failed(self, step: str) -> bool:
        """Return whether the step's result is a failure."""
        return step in self.results and self.results[step].status == "failed"

    def is_skipped(self, step: str) -> bool:
        """Return whether a person skipped the step, or its condition is false."""
        return step in self.results and self.results[step].status == "skipped"

    def failed_in(self, step: str, within: Pass) -> bool:
        """Return whether the step failed in this pass, and so waits for another one."""
        result = self.results.get(step) or self.earlier.get(step)
        return result is not None and result.status == "failed" and self.result_pass.get(step) == within

    def times_failed(self, step: str, item: int | None, *, before_reopening: bool = False) -> int:
        """Return the number of final failures of a step and of this item of it."""
        failed = self.failed_before if before_reopening else self.failed
        return failed[step, None] + (failed[step, item] if item is not None else 0)

    def plan_revised(self, data: PlanRevised, before: Pass) -> None:
        """Reset the retries; after a refinement, steps that failed in the pass `before` still wait for a replan."""
        self.retries = Counter()
        if data.cause == "refined":
            failed = [step for step in self.results if self.failed_in(step, before)]
            self.result_pass.update(dict.fromkeys(failed, before._replace(revision=data.revision)))
        # All steps of a first plan count as added, and a fork has inherited results of them by then.
        for step in (*data.diff.added, *data.diff.changed, *data.diff.removed) if before.revision else ():
            if self.is_skipped(step):
                del self.results[step]  # other work under this id was not what was skipped
            self.conditions.pop(step, None)
        for step in data.diff.changed:
            if step in self.results and not self.is_settled(step):
                self.earlier[step] = self.results.pop(step)  # it is pending until its present definition has run
        self._reconsider(data.plan)
        self.of_plan = frozenset(step["id"] for step in data.plan["steps"])
        self.succeeded_of_plan = len(self.of_plan & self.succeeded)

    def begun(self, step: str | None) -> None:
        """Note that a step has begun, in its present definition."""
        self.earlier.pop(step or "", None)

    def work_finished(self, step: str, data: CallFinished | StepFinished, within: Pass) -> bool:
        """Set a step's result, or hold it until its criteria are checked; return whether the step has succeeded."""
        result = data.result
        self.result_pass[step] = within
        self.unchecked.pop(step, None)
        if data.unchecked:
            self.unchecked[step] = result
            result = result._replace(status="interrupted", error=UNCHECKED)
        if isinstance(data, CallFinished) and data.again:
            result = result._replace(status="interrupted")
        return self._set(step, result)

    def step_finished(self, step: str, data: StepFinished, within: Pass) -> bool:
        """Set the result of a step of more than one call; return whether the step has succeeded."""
        succeeded = self.work_finished(step, data, within)
        self.inputs[step] = data.inputs
        if data.result.status == "failed":
            self.failed.update((step, item) for item in data.items or (None,))
        self.missing[step] = data.missing
        if data.label is not None:
            self.labels[step] = data.label
        return succeeded

    def step_checked(self, step: str, data: StepChecked, within: Pass) -> bool:
        """Set a step's result after its criteria were checked; return whether the step has succeeded."""
        (self.judged.add if data.judged is not None and data.judged.met is not None else self.judged.discard)(step)
        result = self.unchecked.pop(step, None) or self.results.get(step) or StepResult("succeeded")
        self.result_pass[step] = within
        if data.met:
            return self._set(step, result)
        self.retries[step] += data.again
        self.failed[step, None] += not data.again
        self.supplied.discard(step)
        status: StepStatus = "interrupted" if data.again else "failed"
        return self._set(step, StepResult(status, None, None, data.error, result.started_at, result.ended_at))

    def given(self, step: str, value: JsonValue, at: float) -> None:
        """Set the result that a person gave for a step, at this Unix time in seconds."""
        self._set(step, StepResult("succeeded", value, started_at=at, ended_at=at))
        self.answers.add(step)
        self.labels[step] = USER

    def settled(self, step: str, result: StepResult) -> None:
        """Set the result that a person gave for a step's uncertain call; its criteria are checked like any other's."""
        self._set(step, result)
        self.unchecked[step] = result
        self.labels[step] = USER

    def inherited(self, step: str, data: Inherited) -> None:
        """Set the result that the step has in the run that this one is a fork of."""
        if self._set(step, data.result):
            self.labels[step], self.missing[step] = data.label, data.missing
            self.supplied.add(step)

    def step_skipped(self, step: str, data: StepSkipped) -> None:
        """Leave a step out."""
        self.unchecked.pop(step, None)
        why = f"skipped by {data.approver}" + (f": {data.why}" if data.why else "")
        self._set(step, StepResult("skipped", error=why))

    def condition_evaluated(self, step: str, data: ConditionEvaluated) -> None:
        """Note whether a step's condition is met; if not, the step is skipped."""
        self.conditions[step] = data.met
        if not data.met:
            self._set(step, skipped_by(data.condition))

    @property
    def untaken(self) -> frozenset[str]:
        """The steps that were skipped because their condition is false."""
        return frozenset(step for step, met in self.conditions.items() if not met)

    def result_supplied(self, event: Event, data: ResultSupplied, plan: Mapping[str, Any] | None = None) -> None:
        """Set the result that a person gave for a step of a plan; it is checked like any other."""
        step, content = event.step or "", data.result
        result = StepResult("succeeded", content.value, content.artifact, started_at=event.at, ended_at=event.at)
        self.settled(step, result)
        self.supplied.add(step)
        self.givers[step] = data.approver
        self._reconsider(plan, step)

    def run_reopened(self, data: RunReopened) -> None:
        """Forget the results of the steps that are tried again; how often they failed still counts."""
        for step in data.again:
            self.results.pop(step, None)
            self.earlier.pop(step, None)
            self.result_pass.pop(step, None)
            self.missing.pop(step, None)
        self.retries, self.failed_before = Counter(), self.failed.copy()
        self._succeeded = None
        self.succeeded_of_plan = len(self.of_plan & self.succeeded)

    def _reconsider(self, plan: Mapping[str, Any] | None, changed: str | None = None) -> None:
        """Forget each condition that reads the result of `changed`, or of a step that is to run after all."""
        if plan is None or not self.conditions:
            return
        steps = Plan.model_validate(plan)
        # Until none is left: a step that is to run after all makes stale what reads its result.
        while stale := [
            one.id for one in steps.steps if one.id in self.conditions and self._is_stale(steps, one, changed)
        ]:
            for step in stale:
                if not self.conditions.pop(step) and self.is_skipped(step):
                    del self.results[step]

    def _is_stale(self, plan: Plan, step: Step, changed: str | None) -> bool:
        settled = self.succeeded | skipped_in(plan, self.results).keys()
        return step.id not in self.succeeded and (changed in step.waits or not settled.issuperset(step.waits))

    def _set(self, step: str, result: StepResult) -> bool:
        before, succeeded = self.results.get(step), result.status == "succeeded"
        self.earlier.pop(step, None)
        self.results[step] = result
        self._succeeded = None
        if step in self.of_plan:
            self.succeeded_of_plan += succeeded - (before is not None and before.status == "succeeded")
        return succeeded


def due_in(plan: Plan, steps: Steps, of: Sequence[Step]) -> list[Step]:
    """Return those of a plan's steps that wait for nothing more, and whose condition, if they have one, is met."""
    if not of:
        return []
    skipped = skipped_in(plan, steps.results)
    settled = steps.succeeded | skipped.keys()
    return [
        step
        for step in of
        if step.id not in skipped
        and settled.issuperset(step.waits)
        and (step.when is None or steps.conditions.get(step.id))
    ]
