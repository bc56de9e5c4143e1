"""A run that a worker may continue, and the reasons to leave it to people (decision 65)."""

from collections.abc import Sequence
from dataclasses import dataclass

from planner_executor.graph.record.events import (
    ASKED,
    BY_FACADE,
    ON_SERVER,
    Event,
    Paused,
    ResultSupplied,
    Steered,
    StepSkipped,
)
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_state import RunState


@dataclass(frozen=True)
class Candidate:
    """An unfinished run, its events, and the state that follows from them."""

    key: RunKey
    record: RunState
    events: Sequence[Event]

    @property
    def is_on_server(self) -> bool:
        """Whether a LangGraph server keeps the run's checkpoints."""
        return self.record.assignment.origin == ON_SERVER


def hindrance(run: Candidate) -> str | None:
    """Return why a run is left to people, or None if it can go on as it is.

    A run goes on if it was begun and abandoned, interrupted, or handed over by another worker.
    """
    if run.record.ended is not None:
        return "it has ended"
    if run.record.review_state.waits:
        return "it waits for a person"
    if pause_reason(run.events) == ASKED:
        return "a person paused it; continue it with resume"
    if run.record.assignment.origin not in (BY_FACADE, ON_SERVER):
        return "started by a graph of its own, or by an earlier release; continue it there, or with resume"
    return None


def due_in_s(run: Candidate, now: float) -> float:
    """Return the seconds until a run may go on that is paused for a cap across runs; 0 for any other."""
    pause = run.record.paused if run.record.status == "paused" else None
    return max(0.0, pause.due_at - now) if pause is not None and pause.due_at is not None else 0.0


def pause_reason(events: Sequence[Event]) -> str | None:
    """Return why a run is paused, None if it is not."""
    for event in reversed(events):
        data = event.data
        if isinstance(data, Paused):
            return data.reason
        if not data.is_aside and not isinstance(data, Steered | StepSkipped | ResultSupplied):
            return None  # by those three a person changes a paused run, which stays paused
    return None
