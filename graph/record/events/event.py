"""Events before they are written and after they are read, and the union of all kinds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from planner_executor.graph.errors import UnknownEventError
from planner_executor.graph.plan.lazy import lazy
from planner_executor.graph.record.codec import Json
from planner_executor.graph.record.events.by_person import ResultSupplied, StepSkipped
from planner_executor.graph.record.events.call import CallFinished, CallPreviewed, CallRefused, CallStarted
from planner_executor.graph.record.events.call_asked import CallAsked
from planner_executor.graph.record.events.cap import CapReached
from planner_executor.graph.record.events.deadline import LateAnswer, ReviewEscalated, ReviewExpired, ReviewReminded
from planner_executor.graph.record.events.fork import CallInherited, Inherited, RunForked
from planner_executor.graph.record.events.held_call import StepHeld, StepUncertain
from planner_executor.graph.record.events.model import ModelFinished, ModelStarted
from planner_executor.graph.record.events.plan import Executing, PlanRefused, PlanRevised, Steered
from planner_executor.graph.record.events.response import ResponseGiven
from planner_executor.graph.record.events.retry import RunReopened
from planner_executor.graph.record.events.review import Decided, ReviewRequested
from planner_executor.graph.record.events.run import (
    Configured,
    OwnerReplaced,
    Paused,
    RunEnded,
    RunStarted,
    TakeOverAsked,
    ValueRedacted,
)
from planner_executor.graph.record.events.standing import StandingGiven, StandingRevoked
from planner_executor.graph.record.events.step import BudgetReached, ConditionEvaluated, StepChecked, StepFinished
from planner_executor.graph.record.events.vote import Voted

EventData = (
    RunStarted
    | Configured
    | TakeOverAsked
    | OwnerReplaced
    | PlanRevised
    | PlanRefused
    | ReviewRequested
    | Decided
    | Steered
    | Executing
    | CallStarted
    | CallFinished
    | CallAsked
    | CallRefused
    | CallPreviewed
    | StepHeld
    | StepUncertain
    | ModelStarted
    | ModelFinished
    | StepFinished
    | StepChecked
    | ConditionEvaluated
    | BudgetReached
    | Paused
    | ValueRedacted
    | RunEnded
    | RunReopened
    | StepSkipped
    | ResultSupplied
    | RunForked
    | Inherited
    | CallInherited
    | StandingGiven
    | StandingRevoked
    | Voted
    | ResponseGiven
    | CapReached
    | ReviewReminded
    | ReviewEscalated
    | ReviewExpired
    | LateAnswer
)
"""The data of an event, by its kind; code that branches on it names every kind, or mypy reports it."""

TYPES: Mapping[str, type[EventData]] = {kind.kind: kind for kind in get_args(EventData)}
"""Kind -> class."""

CONTROL: tuple[str, ...] = tuple(name for name, kind in TYPES.items() if kind.is_control)
"""Events that change permissions: an intent is refused if its author has not seen the last of them."""

ASIDE: frozenset[str] = frozenset(name for name, kind in TYPES.items() if kind.is_aside)
"""Events that do not change the status of the run."""


@dataclass(frozen=True)
class Draft:
    """An event to be written, and the step that it is about."""

    data: EventData
    step: str | None = None

    @property
    def kind(self) -> str:
        """The name of the kind."""
        return self.data.kind

    @property
    def safe(self) -> bool:
        """Whether the event may be lost in a power cut without harm."""
        return self.data.safe

    @lazy
    def payload(self) -> Json:
        """The payload as the ledger keeps it."""
        return self.data.to_json()

    def of_run(self, thread: str, n: int) -> "Draft":
        """Return the draft as an event of that run, which the first event names."""
        if not isinstance(self.data, RunStarted):
            return self
        return Draft(replace(self.data, thread=thread, n=n), self.step)

    def with_payload(self, payload: Json) -> "Draft":
        """Return the draft with another payload of the same kind."""
        return Draft(type(self.data).from_json(payload), self.step)

    def at(self, checkpoint: str) -> "Draft":
        """Return the draft with the id of the checkpoint at which a node writes it."""
        return Draft(replace(self.data, checkpoint=checkpoint), self.step)


@dataclass(frozen=True)
class Event:
    """An event of the ledger; `seq` counts from 1 within the run, `at` is in Unix seconds.

    The hash chain covers the whole of `payload`, which is decoded on the first use of `data`.
    """

    seq: int
    kind: str
    step: str | None
    at: float
    payload: Mapping[str, Any]

    @classmethod
    def written(cls, seq: int, at: float, draft: Draft) -> "Event":
        """Return a draft as the event that was just written."""
        event = cls(seq, draft.kind, draft.step, at, draft.payload)
        # Fills in what `data` would read anew from the payload, which has just been made of it.
        object.__setattr__(event, "data", draft.data)
        return event

    @lazy
    def data(self) -> EventData:
        """The data of the event.

        Raises:
            UnknownEventError: A newer release wrote it.
            KeyError, TypeError, ValueError, AttributeError: The payload is malformed.
        """
        known, version = TYPES.get(self.kind), self.payload.get("version", 1)
        if known is None:
            raise UnknownEventError(self.seq, f"is of the kind {self.kind!r}")
        # By the type itself: `true` is an `int` for Python.
        if type(version) is not int or not 1 <= version <= known.version:
            raise UnknownEventError(self.seq, f"is of version {version} of {self.kind!r}")
        return known.from_json(self.payload)

    @property
    def data_if_known(self) -> EventData | None:
        """The data of the event, None if a newer release wrote it."""
        try:
            return self.data
        except UnknownEventError:
            return None
