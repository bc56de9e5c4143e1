"""The recorded events of a run during replay: matched events, the next one, and the outcomes of calls.

Events of one pass over a plan may be replayed in another order, because calls run concurrently; all others must come in
the recorded order.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from planner_executor.graph.execution.step_timeout import LATE
from planner_executor.graph.record.call_preview import CallPreview
from planner_executor.graph.record.events import (
    WORDING,
    CallFinished,
    CallPreviewed,
    CallStarted,
    CapReached,
    Draft,
    Event,
    ModelFinished,
    ModelStarted,
    RunStarted,
    StepChecked,
    StepFinished,
    StepHeld,
    ValueRedacted,
)
from planner_executor.graph.replay.comparison import Divergence, Names, differing
from planner_executor.graph.replay.messages import is_interrupted, messages_of
from planner_executor.graph.replay.passes import barriers, is_of_step, outcomes


class Recording:
    """A run's recorded events; model calls of the roles in `aside` are not compared."""

    def __init__(self, events: Iterable[Event], aside: frozenset[str] = frozenset()) -> None:
        self._aside = aside
        self.events = [event for event in events if not self.is_aside(event)]
        self.count = 0
        self._played = [False] * len(self.events)
        self.front = 0
        self._barriers = barriers(self.events)
        self._places: defaultdict[tuple[str, str | None], list[int]] = defaultdict(list)
        # By kind and step: an event is looked up for each draft, and a record may have tens of thousands.
        for place, event in enumerate(self.events):
            self._places[event.kind, event.step].append(place)
        self._outcomes = outcomes(self.events)
        self._with_items = {event.step for event in self.events if event.payload.get("item") is not None}
        self._names: Names = {}
        started = self.events[0].data_if_known if self.events else None
        # Another wording of prompts is no difference in what the run did.
        self._other_wording = isinstance(started, RunStarted) and started.wording != WORDING
        redactions = [event.data_if_known for event in self.events if isinstance(event.data_if_known, ValueRedacted)]
        # A redacted event cannot be the same as one that is computed again.
        self._redacted = {one.seq for redaction in redactions for one in redaction.left}

    @property
    def next(self) -> Event | None:
        """The first event that was not replayed yet."""
        return self.events[self.front] if self.front < len(self.events) else None

    def ahead(self, most: int) -> list[Event]:
        """Return the next events, as they stand on record."""
        return self.events[self.front :][:most]

    @property
    def barrier(self) -> Event | None:
        """The next event that belongs to no step: the end of this pass over the plan."""
        place = self._barrier_place
        return self.events[place] if place < len(self.events) else None

    def is_aside(self, event: Event | Draft) -> bool:
        """Whether an event is one of those that are not compared."""
        data = event.data if isinstance(event, Draft) else event.data_if_known
        if isinstance(data, CallPreviewed):  # a replay asks no tool
            return data.is_intent
        return isinstance(data, ModelStarted | ModelFinished) and data.role in self._aside

    def place(self, drafts: Sequence[Draft]) -> tuple[list[int], Divergence | None]:
        """Return the recorded places of events written in one transaction, up to the first that has none."""
        found: list[int] = []
        for draft in drafts:
            at = self._place_of(draft, set(found))
            if isinstance(at, Divergence):
                return found, at
            found.append(at)
        return found, None

    def place_each(self, drafts: Sequence[Draft]) -> list[tuple[Draft, int]]:
        """Return those events that have a place on record, each with it."""
        found: dict[int, Draft] = {}
        for draft in drafts:
            at = self._place_of(draft, set(found))
            if not isinstance(at, Divergence):
                found[at] = draft
        return [(draft, at) for at, draft in found.items()]

    def play(self, places: Sequence[int]) -> None:
        """Mark events as replayed."""
        for place in places:
            self._played[place] = True
            self.count += 1
        while self.front < len(self.events) and self._played[self.front]:
            self.front += 1

    def outcome_of(self, place: int) -> int | None:
        """Return the place of the outcome of a call started at `place`, or None if the process died before it."""
        return self._outcomes.get(place)

    @property
    def is_for_a_call(self) -> bool:
        """Whether a call is begun on record before the next barrier."""
        return any(isinstance(event.data_if_known, CallStarted | ModelStarted) for event in self._left_of_pass())

    @property
    def is_interrupted(self) -> bool:
        """Whether the work was interrupted before the next event."""
        return is_interrupted(self._from(self.front))

    @property
    def checkpoint_ahead(self) -> str | None:
        """The checkpoint of the node that wrote the next events, None if none of them names it."""
        return _first_named(self._left())

    @property
    def checkpoint_behind(self) -> str | None:
        """The checkpoint of the node that wrote the last events, None if none of them names it."""
        return _first_named(self.events[at] for at in reversed(range(self.front)))

    @property
    def is_mid_pass(self) -> bool:
        """Whether events of this pass over the plan are yet to come."""
        return self.front < self._barrier_place

    def is_near(self, place: int) -> bool:
        """Whether a place belongs to the same pass over the plan as the next event."""
        return self.front <= place < self._barrier_place

    def next_of(self, step: str) -> int | None:
        """Return the place of a step's next event in this pass over the plan, None if there is none."""
        left = range(self.front, self._barrier_place)
        return next((at for at in left if not self._played[at] and self.events[at].step == step), None)

    def is_cut_off(self, step: str | None) -> bool:
        """Whether a step's next event in this pass over the plan says that its time was over."""
        place = self.next_of(step) if step is not None else None
        ended = self.events[place].data_if_known if place is not None else None
        return isinstance(ended, StepFinished) and str(ended.result.error).startswith(LATE)

    def cap_reached(self, step: str | None) -> CapReached | None:
        """Return the cap that refuses a call of a step in this pass over the plan, or of planning next, if one does."""
        found = (event.data_if_known for event in self._left(self._barrier_place + 1) if event.step == step)
        return next((data for data in found if isinstance(data, CapReached)), None)

    def breaks_off(self, draft: Draft) -> bool:
        """Whether the recorded work of a step ends before this event in this pass over the plan.

        Only for events written by a step's own work: a model's answer, or the outcome of a call within the step.
        """
        data = draft.data
        within = isinstance(data, CallFinished) and (data.unchecked or not data.is_the_step)
        if draft.step is None or not (within or isinstance(data, ModelFinished)) or not self.is_mid_pass:
            return False
        return all(event.step != draft.step for event in self._left_of_pass())

    def date_told(self, step: str, item: int | None) -> str | None:
        """Return the day that the model of a step was told when it began next on record, None if it was told none."""
        begun = (event.data_if_known for event in self._left() if event.step == step)
        briefs = (data.brief for data in begun if isinstance(data, ModelStarted) and data.item == item)
        return next((brief.date for brief in briefs if brief is not None), None)

    def file_seen(self, path: str) -> str | None:
        """Return the file found at a path by a check of this pass over the plan, or None if there was none."""
        events = (event.data_if_known for event in self._left_of_pass())
        checked = (finding for data in events if isinstance(data, StepChecked) for finding in data.checks)
        found = next((finding for finding in checked if finding.check.get("file_exists") == path), None)
        return str(found.seen) if found is not None and found.met else None

    def preview_seen(self, key: str) -> CallPreview | None:
        """Return the preview that was made of a call when it was due in this pass over the plan, None if none was."""
        events = (event.data_if_known for event in self._left_of_pass())
        due = (data for data in events if isinstance(data, StepHeld | CallStarted))
        named = ((getattr(data, "replaces", None) or data.key, data.previewed) for data in due)
        return next((previewed for name, previewed in named if name == key), None)

    def previews_next(self) -> tuple[CallPreview, ...]:
        """Return the previews of a proposed plan, if they come next."""
        data = self.next.data_if_known if self.next is not None else None
        return data.previews if isinstance(data, CallPreviewed) else ()

    def messages_ahead(self) -> list[str]:
        """Return the messages left for the run before the next barrier, reconstructed from the events they caused."""
        return messages_of(self._from(self._barrier_place))

    def _left(self, end: int | None = None) -> Iterator[Event]:
        """Yield the events before a place that were not replayed yet; without one, all of them."""
        # A slice of the numbers copies no events, and allows an end behind the last one.
        return (self.events[at] for at in range(len(self.events))[self.front : end] if not self._played[at])

    def _left_of_pass(self) -> Iterator[Event]:
        return self._left(self._barrier_place)

    def _from(self, place: int) -> Iterator[Event]:
        return (self.events[at] for at in range(place, len(self.events)))

    @property
    def _barrier_place(self) -> int:
        return self._barriers[self.front] if self.front < len(self.events) else len(self.events)

    def _place_of(self, draft: Draft, taken: set[int]) -> int | Divergence:
        front = next(
            (at for at in range(self.front, len(self.events)) if not self._played[at] and at not in taken), None
        )
        if front is None:
            return Divergence(self._seq(len(self.events)), None, draft, why="the record ends here")
        end = self._barriers[front]
        places = self._places[draft.kind, draft.step] if is_of_step(draft.data) else []
        ahead = range(bisect_left(places, front), bisect_left(places, end))  # a list may have thousands of items
        first: Divergence | None = None
        for at in (places[index] for index in ahead):
            if self._played[at] or at in taken:
                continue
            path = self._differing(at, draft)
            if path is None:
                return at
            if draft.step in self._with_items:  # it may be that of another item, whose work goes on beside this one's
                path = ""
            # Of several events that could have been meant, the first one is told.
            first = first or Divergence(self._seq(at), self.events[at], draft, path)
        if first is not None:
            return first
        path = self._differing(front, draft)
        return front if path is None else Divergence(self._seq(front), self.events[front], draft, path)

    def _differing(self, place: int, draft: Draft) -> str | None:
        event = self.events[place]
        is_redacted = event.seq in self._redacted
        return differing(event, draft, self._names, is_redacted, other_wording=self._other_wording)

    def _seq(self, place: int) -> int:
        if place < len(self.events):
            return self.events[place].seq
        return self.events[-1].seq + 1 if self.events else 1


def _first_named(events: Iterable[Event]) -> str | None:
    named = (event.payload.get("checkpoint") for event in events)
    return next((checkpoint for checkpoint in named if checkpoint is not None), None)
