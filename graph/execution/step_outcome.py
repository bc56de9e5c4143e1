"""The outcome of a step, or the reason that there is none yet."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from graph.calls.meter import LimitReached
from graph.calls.tool_call import CallHeld, CallUncertain, Finished
from graph.record.assessment import Assessment
from graph.record.events import Draft, StepFinished
from graph.record.results import StepResult, StepStatus
from graph.record.trust_label import USER, TrustLabel
from graph.record.values import Kept, keep


@dataclass(frozen=True)
class StepOutcome:
    """The outcome of a step, and the events to write (none if it was on record).

    `called` counts its successful calls by tool. `uncertain_calls` are the keys of calls that may have happened,
    `limit` is the exhausted limit of the budget: both need a person.
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
        result = replace(self.result, status="failed", value=None, artifact=None, error=assessment.error)
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


def for_a_person(step: str, *reasons: CallHeld | CallUncertain | LimitReached) -> StepOutcome:
    """Return the provisional outcome of a step that needs a person's decision."""
    uncertain = tuple(key for reason in reasons if isinstance(reason, CallUncertain) for key in reason.keys)
    limit = next((reason.limit for reason in reasons if isinstance(reason, LimitReached)), None)
    status: StepStatus = "uncertain" if uncertain else "pending"
    return StepOutcome(step, StepResult(status, error=str(reasons[0])), uncertain_calls=uncertain, limit=limit)


def pending(step: str, why: str) -> StepOutcome:
    """Return the provisional outcome of a step that waits for something other than a call."""
    return StepOutcome(step, StepResult("pending", error=why))
