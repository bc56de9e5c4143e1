"""The passes over a plan in a record, and the calls in it with their outcomes."""

from collections.abc import Sequence
from typing import Any

from planner_executor.graph.record.events import (
    CallAsked,
    CallFinished,
    CallStarted,
    Event,
    ModelFinished,
    ModelStarted,
)

STEP_KINDS = frozenset(
    (
        "call_started",
        "call_finished",
        "call_asked",
        "call_refused",
        "step_held",
        "standing_given",
        "cap_reached",
        "step_uncertain",
        "model_started",
        "model_finished",
        "step_finished",
        "step_checked",
    )
)
"""Kinds of events that belong to steps."""


def barriers(events: Sequence[Event]) -> list[int]:
    """Return for each place the next one whose event belongs to no step."""
    found, barrier = [len(events)] * len(events), len(events)
    for place in reversed(range(len(events))):
        event = events[place]
        if event.kind not in STEP_KINDS or event.step is None:
            barrier = place
        found[place] = barrier
    return found


def outcomes(events: Sequence[Event]) -> dict[int, int]:
    """Return the place of a call's beginning -> the place of its outcome."""
    begun: dict[Any, int] = {}
    found: dict[int, int] = {}
    for place, event in enumerate(events):
        start: int | None = None
        match event.data_if_known:
            case CallStarted(item=item, call=call):
                begun[event.step, item, call] = place
            case ModelStarted(key=key):
                begun[key] = place
            case CallFinished(item=item, call=call) | CallAsked(item=item, call=call):
                start = begun.pop((event.step, item, call), None)
            case ModelFinished(key=key):
                start = begun.pop(key, None)
        if start is not None:
            found[start] = place
    return found
