"""A run's summary, folded from its events one by one."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from planner_executor.graph.errors import UnknownEventError
from planner_executor.graph.record.events import (
    ASIDE,
    CallFinished,
    CallStarted,
    Decided,
    Event,
    ModelFinished,
    ModelStarted,
    PlanRevised,
    ResponseGiven,
    ResultSupplied,
    ReviewExpired,
    ReviewRequested,
    RunEnded,
    RunReopened,
    RunStarted,
    Steered,
    StepChecked,
    StepFinished,
    StepSkipped,
)
from planner_executor.graph.record.open_review import ReviewFold
from planner_executor.graph.record.summary import CHANGED, DAMAGED, PERSON, RunSummary

GOAL_CHARACTERS = 300
"""A longer goal is cut; the run's first event has the whole of it."""
PEOPLE = 20
"""At most this many people are named."""


@dataclass
class Summarizer:
    """Folds a run's events, in order, into its summary."""

    thread: str
    n: int
    _seq: int = 0
    _goal: str = ""
    _tags: tuple[str, ...] = ()
    _people: dict[str, None] = field(default_factory=dict)
    _asked: tuple[str, ...] = ()
    _ended: RunEnded | None = None
    _last_kind: str = ""
    _started_at: float = 0.0
    _updated_at: float = 0.0
    _waiting_since: float | None = None
    _revision: int = 0
    _plan_steps: frozenset[str] = frozenset()
    _succeeded: set[str] = field(default_factory=set)
    _succeeded_of_plan: int = 0
    _step_of: dict[str, str] = field(default_factory=dict)
    _tool_calls: int = 0
    _model_calls: int = 0
    _tokens: int = 0
    _cost_usd: float = 0.0
    _review: ReviewFold = field(default_factory=ReviewFold)
    _damaged: bool = False

    def apply(self, events: Iterable[Event]) -> "Summarizer":
        """Fold later events into the summary, and return the summarizer."""
        for event in events:
            self._seq, self._updated_at = event.seq, event.at
            if event.kind not in _ASIDE:
                self._last_kind = event.kind
            try:
                self._review.apply(event)
                data = event.data  # of every event: one that cannot be read has damaged the run
                if (fold := FOLDS.get(event.kind)) is not None:
                    fold(self, event, data)
            except UnknownEventError:
                pass  # a newer release writes this row when it works on the run
            except CHANGED:
                self._damaged = True
        return self

    @property
    def summary(self) -> RunSummary:
        """The run after the events folded so far."""
        status = self._status
        waiting = status == "waiting"
        review = self._review.open if waiting else None
        return RunSummary(
            thread=self.thread,
            n=self.n,
            seq=self._seq,
            status=status,
            goal=self._goal,
            reason=self._ended.reason if self._ended else None,
            waits_for=PERSON if waiting else None,
            asks=self._asked if waiting else (),
            people=tuple(self._people)[:PEOPLE],
            tags=self._tags,
            started_at=self._started_at,
            updated_at=self._updated_at,
            ended_at=self._updated_at if self._ended else None,
            waiting_since=self._waiting_since if waiting else None,
            revision=self._revision,
            steps=len(self._plan_steps),
            succeeded=self._succeeded_of_plan,
            tool_calls=self._tool_calls,
            model_calls=self._model_calls,
            tokens=self._tokens,
            cost_usd=self._cost_usd,
            due_at=review.due_at if review is not None else None,
            review=review,
        )

    @property
    def _status(self) -> str:
        if self._damaged:
            return DAMAGED
        if self._ended:
            return self._ended.status
        if self._waiting_since is not None:
            return "waiting"
        return {"": "planning", "run_started": "planning", "paused": "paused"}.get(self._last_kind, "running")

    def _model_started(self, _event: Event, _data: ModelStarted) -> None:
        self._model_calls += 1

    def _model_finished(self, _event: Event, data: ModelFinished) -> None:
        self._tokens += data.usage.total_tokens if data.usage is not None else 0
        self._cost_usd += data.cost_usd or 0.0

    def _started(self, event: Event, data: RunStarted) -> None:
        self._goal, self._tags = str(data.goal)[:GOAL_CHARACTERS], data.tags
        self._started_at = event.at

    def _revised(self, _event: Event, data: PlanRevised) -> None:
        self._revision = data.revision
        self._plan_steps = frozenset(step["id"] for step in data.plan["steps"])
        self._succeeded_of_plan = len(self._plan_steps & self._succeeded)

    def _requested(self, event: Event, data: ReviewRequested) -> None:
        self._asked = tuple(dict.fromkeys(data.asked))
        self._waiting_since = event.at if self._waiting_since is None else self._waiting_since

    def _went_on(self, _event: Event, _data: object) -> None:
        self._waiting_since = None

    def _answered(self, _event: Event, data: Steered | ResponseGiven) -> None:
        self._waiting_since = None
        self._named(data.approver)

    def _has_ended(self, _event: Event, data: RunEnded) -> None:
        self._ended, self._waiting_since = data, None

    def _reopened(self, _event: Event, _data: RunReopened) -> None:
        self._ended = None

    def _decided(self, _event: Event, data: Decided) -> None:
        self._waiting_since = None
        if data.by != "policy":
            self._named(data.approver)
        for supplied in data.given:
            self._set(supplied, succeeded=True)
        for call in data.settled:
            if call.happened and (step := self._step_of.get(call.key)):
                self._set(step, succeeded=True)

    def _named(self, name: str) -> None:
        if name:
            self._people[name] = None

    def _call_started(self, event: Event, data: CallStarted) -> None:
        self._tool_calls += 1
        if data.call == 0 and data.item is None:
            self._step_of[data.key] = event.step or ""

    def _call_finished(self, event: Event, data: CallFinished) -> None:
        if data.is_the_step:
            self._came_to(event, data)

    def _came_to(self, event: Event, data: CallFinished | StepFinished) -> None:
        """Count a step's result unless its criteria are still to be checked."""
        step, succeeded = event.step or "", data.result.status == "succeeded"
        self._set(step, succeeded=succeeded and not data.unchecked)

    def _checked(self, event: Event, data: StepChecked) -> None:
        self._set(event.step or "", succeeded=data.met)

    def _set(self, step: str, *, succeeded: bool) -> None:
        """Note whether a step has succeeded; to count all of them anew at each event would take longer and longer."""
        if succeeded == (step in self._succeeded):
            return
        (self._succeeded.add if succeeded else self._succeeded.discard)(step)
        if step in self._plan_steps:
            self._succeeded_of_plan += 1 if succeeded else -1


_ASIDE = frozenset(ASIDE)
FOLDS: Mapping[str, Callable[..., None]] = {
    CallStarted.kind: Summarizer._call_started,
    CallFinished.kind: Summarizer._call_finished,
    StepFinished.kind: Summarizer._came_to,
    StepChecked.kind: Summarizer._checked,
    ModelStarted.kind: Summarizer._model_started,
    ModelFinished.kind: Summarizer._model_finished,
    RunStarted.kind: Summarizer._started,
    PlanRevised.kind: Summarizer._revised,
    ReviewRequested.kind: Summarizer._requested,
    Decided.kind: Summarizer._decided,
    ReviewExpired.kind: Summarizer._went_on,
    ResultSupplied.kind: Summarizer._went_on,
    StepSkipped.kind: Summarizer._went_on,
    Steered.kind: Summarizer._answered,
    ResponseGiven.kind: Summarizer._answered,
    RunEnded.kind: Summarizer._has_ended,
    RunReopened.kind: Summarizer._reopened,
}
"""Kind of event -> what it changes in the summary."""
