"""The outcome of a step, or the reason that there is none yet."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from planner_executor.graph.calls.meter import LimitReached
from planner_executor.graph.calls.tool_call import CallHeld, CallUncertain, Finished
from planner_executor.graph.errors import CapReachedError
from planner_executor.graph.record.assessment import Assessment
from planner_executor.graph.record.events import Draft, StepFinished
from planner_executor.graph.record.results import StepResult, StepStatus
from planner_executor.graph.record.trust_label import USER, TrustLabel
from planner_executor.graph.record.values import Kept, keep


@dataclass(frozen=True)
class StepOutcome:
    """The outcome of a step, and the events to write (none if it was on record).

    `called` counts its successful calls by tool. `uncertain_calls` are the keys of calls that may have happened,
    `limit` is the exhausted limit of the budget, `cap` the cap across runs that allows the step's call only later.
    `needs_person` means that the step waits for a person's decision.
    """

    step: str
    result: StepResult
    value: JsonValue = None
    events: tuple[Finished | Draft, ...] = ()
    kept: Kept | None = None
    label: TrustLabel = USER
    called: Mapping[str, int] = field(default_factory=dict)
    uncertain_calls: tuple[str, ...] = ()
    limit: str | None = None
    needs_person: bool = False
    cap: CapReachedError | None = None

    @classmethod
    def of_call(cls, finished: Finished, *, on_record: bool = False) -> "StepOutcome":
        """Return the outcome of a step that is one call."""
        call, result = finished.call, finished.result
        called = {call.tool: 1} if result.status == "succeeded" else {}
        events = () if on_record else (finished,)
        return cls(call.step, result, finished.value, events, label=call.label, called=called)

    def assessed(self, assessment: Assessment, revision: int) -> "StepOutcome":
        """Return the outcome after its criteria were assessed: a failure if they are not met."""
        events = (*self.events, assessment.event(self.step, revision, again=False))
        if assessment.met:
            return replace(self, events=events)
        # The value stays on record with its call, but no step may rest on it.
        result = self.result._replace(status="failed", value=None, artifact=None, error=assessment.error)
        return StepOutcome(self.step, result, events=events, kept=self.kept)


@dataclass(frozen=True)
class StepAttempt:
    """One attempt at a step: the digest of its inputs, and the revision that it belongs to."""

    step: str
    inputs: str
    revision: int
    started_at: float

    def succeeded(
        self, value: JsonValue, label: TrustLabel, missing: Sequence[str] = (), called: Mapping[str, int] | None = None
    ) -> StepOutcome:
        """Return the outcome of a success; `missing` describes tolerated failures of items."""
        kept = keep(value)
        result = StepResult("succeeded", **kept.fields(), started_at=self.started_at, ended_at=time.time())
        return StepOutcome(
            self.step,
            result,
            value,
            (self._event(result, label, missing=tuple(missing)),),
            kept,
            label,
            dict(called or {}),
        )

    def failed(self, error: str, items: Sequence[int] = ()) -> StepOutcome:
        """Return the outcome of a failure; `items` are the indexes of failed items, from 0."""
        result = StepResult("failed", error=error, started_at=self.started_at, ended_at=time.time())
        return StepOutcome(self.step, result, events=(self._event(result, USER, items=tuple(items)),))

    def _event(
        self, result: StepResult, label: TrustLabel, missing: tuple[str, ...] = (), items: tuple[int, ...] = ()
    ) -> Draft:
        finished = StepFinished(
            result=result, inputs=self.inputs, label=label, revision=self.revision, missing=missing, items=items
        )
        return Draft(finished, self.step)


NotNow = CallHeld | CallUncertain | LimitReached | CapReachedError
NOT_NOW = (CallHeld, CallUncertain, LimitReached, CapReachedError)
"""Reasons for which a step makes no call now: a person decides, or a cap across runs allows it later."""


def not_now(step: str, *reasons: NotNow) -> StepOutcome:
    """Return the provisional outcome of a step that waits for a person's decision, or for a cap across runs."""
    uncertain = tuple(key for reason in reasons if isinstance(reason, CallUncertain) for key in reason.keys)
    limit = next((reason.limit for reason in reasons if isinstance(reason, LimitReached)), None)
    cap = next((reason for reason in reasons if isinstance(reason, CapReachedError)), None)
    by_person = any(not isinstance(reason, CapReachedError) for reason in reasons)
    status: StepStatus = "uncertain" if uncertain else "pending"
    why = reasons[0].words if isinstance(reasons[0], CapReachedError) else str(reasons[0])
    result = StepResult(status, error=why)
    return StepOutcome(step, result, uncertain_calls=uncertain, limit=limit, needs_person=by_person, cap=cap)


def pending(step: str, why: str, *, needs_person: bool) -> StepOutcome:
    """Return the provisional outcome of a step that waits for something other than a call."""
    return StepOutcome(step, StepResult("pending", error=why), needs_person=needs_person)
