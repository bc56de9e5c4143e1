"""The events that a replay has written so far, in the order in which they stand on record."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner_executor.graph.record.events import Event


class KeptEvents:
    """Events by their place on record; calls side by side may write them in another order.

    What follows from them, such as a prompt that lists what failed, depends on their order.
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._places: list[int] = []

    def __len__(self) -> int:
        return len(self._events)

    def after(self, seq: int) -> list[Event]:
        """Return the events after the `seq`-th."""
        return self._events[seq:]

    def add(self, place: int | None, like: Event, payload: Mapping[str, Any]) -> None:
        """Keep an event with the kind, step and time of another one; without a place it follows all others.

        One that is equal to the other is that one, which has been read already.
        """
        if place is None:
            place = self._places[-1] if self._places else 0
        index = bisect_right(self._places, place)
        self._places.insert(index, place)
        event = Event(index + 1, like.kind, like.step, like.at, payload)
        self._events.insert(index, like if event == like else event)
        # Numbers are those of the order on record, so that prompts and requests name the same ones.
        for later in range(index + 1, len(self._events)):
            self._events[later] = replace(self._events[later], seq=later + 1)

    def last_at(self) -> float:
        """Return the time of the last event, 0 if there is none."""
        return self._events[-1].at if self._events else 0.0
