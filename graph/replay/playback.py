"""The events of a replay: each is compared with the record when it is written, and kept in memory only."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from planner_executor.graph.errors import CapReachedError, LedgerError, MessageWaitingError
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.artifacts import with_values
from planner_executor.graph.record.events import CallStarted, Draft, Event, ModelStarted
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import Kept
from planner_executor.graph.replay.comparison import WORLD, Divergence
from planner_executor.graph.replay.kept_events import KeptEvents
from planner_executor.graph.replay.recording import Recording

NAME = "(replay)"


class ReplayStopped(LedgerError):
    """The replay goes no further here; it never leaves the player."""

    def __init__(self) -> None:
        super().__init__(NAME, "the replay goes no further")


class EventsMissing(Exception):
    """Events that are not on record, although others of the same pass over the plan are yet to come."""

    def __init__(self, difference: Divergence) -> None:
        self.difference = difference
        super().__init__()


class Playback:
    """How far the graph has come along the record, and the events and artifacts that it has written.

    An event not on record stops the graph (`stopped`, `dead`). If it may differ it continues: `first` is then
    the first difference, `refusal` why an event cannot be, and `halt` keeps the first such reason. `started`
    and `asked` map calls to their place on record: by the key of a tool call, by the digest of a prompt. `checkpoints`
    maps checkpoints of the record to those of the replay. `by_others` counts the next events that another process
    wrote: they are there when the run is owned next.
    """

    def __init__(self, transcript: Transcript, recording: Recording, *, may_differ: bool) -> None:
        self.run = RunKey(transcript.thread, transcript.n)
        self.recording = recording
        self.events = KeptEvents()
        self.artifacts = dict(transcript.artifacts)
        self.stopped: Divergence | None = None
        self.dead = False
        self.first: Divergence | None = None
        self.refusal: Callable[[Draft], str | None] = lambda _: None
        self.halt: str | None = None
        self.started: dict[str, int] = {}
        self.asked: defaultdict[str, list[int]] = defaultdict(list)
        self.changed = asyncio.Event()
        self.checkpoints: dict[str, str] = {}
        self.by_others = 0
        self._may_differ = may_differ

    @property
    def free(self) -> bool:
        """Whether the graph has left the record."""
        return self.first is not None

    def check_alive(self) -> None:
        """Raise `ReplayStopped` if the replay goes no further."""
        if self.dead:
            raise ReplayStopped

    def write(self, drafts: Sequence[Draft], artifacts: Sequence[Kept], require_empty_inbox: bool = False) -> None:
        """Compare events with the record, and keep them.

        Raises:
            ReplayStopped: They differ, and the replay goes no further.
            EventsMissing: Others of their pass have to come first.
            MessageWaitingError: A message was left for the run at this place of the record.
        """
        # A replay that has stopped must not write on: its tasks may still be running.
        self.check_alive()
        self.artifacts.update({kept.artifact.id: kept.text for kept in artifacts if kept.artifact})
        # Filled in from artifacts, as prompts of the record are, or equal ones would differ by how they are stored.
        drafts = [draft.with_payload(with_values(draft.payload, self.artifacts)) for draft in drafts]
        compared = [draft for draft in drafts if not self.recording.is_aside(draft)]
        places, difference = self.recording.place(compared) if not self.free else ([], None)
        if difference is not None:
            self._differ(difference, compared, require_empty_inbox)
            places = []
        if self.free and (halt := next(filter(None, map(self.refusal, drafts)), None)):
            self.halt, self.dead = halt, True
            raise ReplayStopped
        # By identity: equal drafts in one write have places of their own.
        at = dict(zip(map(id, compared), places, strict=False))
        self._play([(draft, at.get(id(draft))) for draft in drafts])

    def skip(self) -> None:
        """Accept the next recorded event as it is: another process wrote it."""
        event = self.recording.next
        assert event is not None
        self.events.add(self.recording.front, event, event.payload)
        self.recording.play([self.recording.front])

    def check_caps(self, drafts: Sequence[Draft]) -> None:
        """Refuse an intent that was refused by a cap on record; a replay counts nothing.

        Raises:
            CapReachedError: It was.
        """
        self.check_alive()
        starting = [draft for draft in drafts if isinstance(draft.data, CallStarted | ModelStarted)]
        if not starting or self.free or self.recording.place(starting)[1] is None:
            return
        if (reached := self.recording.cap_reached(starting[0].step)) is not None:
            raise CapReachedError(NAME, reached.cap, reached.allows, wait_s=0.0)

    def _differ(self, difference: Divergence, drafts: Sequence[Draft], require_empty_inbox: bool) -> None:
        """Take up a message that was left for the run, leave the record, or go no further."""
        # The process found a message instead of writing this; the graph reads it and tries again.
        if require_empty_inbox and self.recording.messages_ahead():
            raise MessageWaitingError(NAME, self.run.id)
        if difference.recorded is None:
            self.recording.play(self.recording.place(drafts)[0])  # the record ends in the middle of one transaction
        elif self.recording.is_interrupted:
            raise EventsMissing(difference)
        elif self.recording.is_mid_pass and difference.is_of_a_step:
            self._play(self.recording.place_each(drafts))  # what else ended by now was written before, or not at all
            raise EventsMissing(difference)
        elif self._may_differ and (difference.field or difference.is_of_plans):
            self.first = difference
            return
        self.stopped, self.dead = difference, True
        self.changed.set()
        raise ReplayStopped

    def _play(self, placed: Sequence[tuple[Draft, int | None]]) -> None:
        """Keep events, each with its place on record, if it has one."""
        for draft, place in placed:
            self._note(draft, place)
        self.recording.play([place for _, place in placed if place is not None])
        self.changed.set()

    def _note(self, draft: Draft, place: int | None) -> None:
        if place is None:
            self.events.add(None, Event(0, draft.kind, draft.step, self.events.last_at(), {}), draft.payload)
            return
        recorded = self.recording.events[place]
        if (checkpoint := recorded.payload.get("checkpoint")) is not None and "checkpoint" in draft.payload:
            self.checkpoints[checkpoint] = draft.payload["checkpoint"]
        if isinstance(draft.data, CallStarted):
            self.started[draft.data.key] = place
        elif isinstance(draft.data, ModelStarted):
            self.asked[draft.data.prompt_digest].append(place)
        self.events.add(place, recorded, _timed(draft.payload, recorded.payload))


def _timed(payload: Mapping[str, Any], recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Return a payload with the times and the naming of the record; the checkpoint is the replay's own."""
    of_record = {name: recorded[name] for name in WORLD & set(recorded) if name != "checkpoint"}
    return {**{name: value for name, value in payload.items() if name != "keeps_names"}, **of_record}
