"""A run in one row: what lists, searches and dashboards show of it, folded from its events one by one."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graph.record.events import ASIDE, Event
from graph.record.run_state import run_name

GOAL_CHARACTERS = 300
"""A longer goal is cut; the run's first event has the whole of it."""
PEOPLE = 20
"""At most this many people are named."""
PERSON = "person"
"""What a run waits for that has an open review request."""


DAMAGED = "damaged"
"""Status of a run with an event that is not as this package writes it."""
CHANGED = (KeyError, TypeError, ValueError, AttributeError)
"""What reading such an event ends in."""


@dataclass(frozen=True)
class RunSummary:
    """A run as its events describe it; whether a process works on it, they do not say.

    A waiting run `waits_for` a person, and `asks` names the requests that are open, such as `run_plan`. `people` are
    those who decided or steered. `steps` counts the steps of the plan in force, `succeeded` those of them that
    succeeded. Times are Unix seconds; `ended_at` and `waiting_since` are None if they do not apply.
    """

    thread: str
    n: int
    seq: int
    status: str
    goal: str = ""
    reason: str | None = None
    waits_for: str | None = None
    asks: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    started_at: float = 0.0
    updated_at: float = 0.0
    ended_at: float | None = None
    waiting_since: float | None = None
    revision: int = 0
    steps: int = 0
    succeeded: int = 0
    tool_calls: int = 0
    model_calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0

    @property
    def id(self) -> str:
        """The run's name: thread and number."""
        return run_name(self.thread, self.n)


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
    _ended: Mapping[str, Any] | None = None
    _last_kind: str = ""
    _started_at: float = 0.0
    _updated_at: float = 0.0
    _waiting_since: float | None = None
    _revision: int = 0
    _plan_steps: frozenset[str] = frozenset()
    _succeeded: set[str] = field(default_factory=set)
    _unchecked: set[str] = field(default_factory=set)
    _step_of: dict[str, str] = field(default_factory=dict)
    _tool_calls: int = 0
    _model_calls: int = 0
    _tokens: int = 0
    _cost_usd: float = 0.0
    _damaged: bool = False

    def apply(self, events: Iterable[Event]) -> "Summarizer":
        """Fold the events that follow those folded so far, and return the summarizer."""
        for event in events:
            self._seq, self._updated_at = event.seq, event.at
            self._last_kind = self._last_kind if event.kind in ASIDE else event.kind
            if fold := FOLDS.get(event.kind):
                try:
                    fold(self, event)
                except CHANGED:
                    self._damaged = True
        return self

    @property
    def summary(self) -> RunSummary:
        """The run as it stands after the events folded so far."""
        waiting = self._status == "waiting"
        return RunSummary(
            thread=self.thread,
            n=self.n,
            seq=self._seq,
            status=self._status,
            goal=self._goal,
            reason=self._ended["reason"] if self._ended else None,
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
            succeeded=len(self._plan_steps & self._succeeded),
            tool_calls=self._tool_calls,
            model_calls=self._model_calls,
            tokens=self._tokens,
            cost_usd=self._cost_usd,
        )

    @property
    def _status(self) -> str:
        if self._damaged:
            return DAMAGED
        if self._ended:
            return str(self._ended["status"])
        if self._waiting_since is not None:
            return "waiting"
        return {"": "planning", "run_started": "planning", "paused": "paused"}.get(self._last_kind, "running")

    def _run_started(self, event: Event) -> None:
        self._goal = str(event.payload["goal"])[:GOAL_CHARACTERS]
        self._tags = tuple(event.payload.get("tags", ()))
        self._started_at = event.at

    def _plan_revised(self, event: Event) -> None:
        self._revision = event.payload["revision"]
        self._plan_steps = frozenset(step["id"] for step in event.payload["plan"]["steps"])

    def _review_requested(self, event: Event) -> None:
        self._asked = tuple(dict.fromkeys(event.payload["asked"]))
        self._waiting_since = event.at if self._waiting_since is None else self._waiting_since

    def _decided(self, event: Event) -> None:
        self._waiting_since = None
        if event.payload["by"] != "policy":
            self._named(event)
        self._succeeded.update(event.payload.get("given", {}))
        for entry in event.payload.get("settled", ()):
            if entry["happened"] and (step := self._step_of.get(entry["key"])):
                self._succeeded.add(step)

    def _steered(self, event: Event) -> None:
        self._waiting_since = None
        self._named(event)

    def _named(self, event: Event) -> None:
        if name := event.payload.get("approver"):
            self._people[name] = None

    def _call_started(self, event: Event) -> None:
        call = event.payload
        self._tool_calls += 1
        if call["call"] == 0 and call.get("item") is None:
            self._step_of[call["key"]] = event.step or ""

    def _call_finished(self, event: Event) -> None:
        if event.payload["call"] == 0 and event.payload.get("item") is None:
            self._came_to(event)

    def _step_finished(self, event: Event) -> None:
        self._came_to(event)

    def _came_to(self, event: Event) -> None:
        """Count a step's result, or keep it apart until its criteria have been checked."""
        step, succeeded = event.step or "", event.payload["status"] == "succeeded"
        self._succeeded.discard(step)
        self._unchecked.discard(step)
        if succeeded:
            (self._unchecked if event.payload.get("unchecked") else self._succeeded).add(step)

    def _step_checked(self, event: Event) -> None:
        step = event.step or ""
        self._unchecked.discard(step)
        (self._succeeded.add if event.payload["met"] else self._succeeded.discard)(step)

    def _model_started(self, _event: Event) -> None:
        self._model_calls += 1

    def _model_finished(self, event: Event) -> None:
        self._tokens += (event.payload.get("usage") or {}).get("total_tokens") or 0
        self._cost_usd += event.payload.get("cost_usd") or 0.0

    def _run_ended(self, event: Event) -> None:
        self._ended, self._waiting_since = event.payload, None


FOLDS: Mapping[str, Callable[[Summarizer, Event], None]] = {
    "run_started": Summarizer._run_started,
    "plan_revised": Summarizer._plan_revised,
    "review_requested": Summarizer._review_requested,
    "decided": Summarizer._decided,
    "steered": Summarizer._steered,
    "call_started": Summarizer._call_started,
    "call_finished": Summarizer._call_finished,
    "step_finished": Summarizer._step_finished,
    "step_checked": Summarizer._step_checked,
    "model_started": Summarizer._model_started,
    "model_finished": Summarizer._model_finished,
    "run_ended": Summarizer._run_ended,
}
