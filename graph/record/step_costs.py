"""Costs of a run's steps."""

from collections.abc import Iterable

from planner_executor.graph.errors import UnknownEventError
from planner_executor.graph.record.cost import NO_COST, PLANNING, StepCost, cost_with
from planner_executor.graph.record.events import (
    CallStarted,
    Event,
    EventData,
    ModelFinished,
    ModelStarted,
)
from planner_executor.graph.record.summary import CHANGED


def step_costs(events: Iterable[Event]) -> dict[str, StepCost]:
    """Return step id -> cost, in the order of first calls; `planning` has the calls of no step."""
    found: dict[str, StepCost] = {}
    for event in events:
        if isinstance(data := _data(event), CallStarted | ModelStarted | ModelFinished):
            found[event.step or PLANNING] = cost_with(found.get(event.step or PLANNING, NO_COST), data)
    return found


def _data(event: Event) -> EventData | None:
    try:
        return event.data
    except (UnknownEventError, *CHANGED):  # of a newer release, or changed, which `verify` names
        return None
