"""The ledger of a replay: events of the graph are compared with the record, and kept in memory only."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from graph.errors import CapReachedError, LedgerError, MessageWaitingError
from graph.ledger.protocol import Lease, Message, MessageHandler, News, Owned, RunKey, no_events
from graph.ledger.transcript import Transcript
from graph.record.artifacts import with_values
from graph.record.call import Call
from graph.record.caps import CapEntry
from graph.record.events import (
    CallStarted,
    Draft,
    Event,
    ModelStarted,
    StandingGiven,
    StepHeld,
    StepUncertain,
)
from graph.record.other_runs import other_calls
from graph.record.sample import Sample
from graph.record.standing_approval import StandingApproval, StandingCall, StandingUse
from graph.record.values import Kept
from graph.replay.comparison import WORLD, Divergence
from graph.replay.recorded_clock import RecordedClock
from graph.replay.recording import Recording

NAME = "(replay)"


class ReplayStopped(LedgerError):
    """The replay goes no further here; it never leaves the player."""

    def __init__(self) -> None:
        super().__init__(NAME, "the replay goes no further")


class _Unwritten(Exception):
    """Events that are not on record, although others of the same pass over the plan are yet to come."""

    def __init__(self, difference: Divergence) -> None:
        self.difference = difference
        super().__init__()


class ReplayLedger:
    """See `graph.ledger.protocol.Ledger`; holds the one run that is replayed.

    An event not on record stops the graph (`stopped`, `dead`). If it may differ it continues: `first` is then
    the first difference, `refusal` why an event cannot be, and `halt` keeps the first such reason. `started`
    and `asked` map calls to their place on record: by the key of a tool call, by the digest of a prompt. `held_up` are
    steps that wait for the others of their pass. `by_others` counts the next events that another process wrote: they
    are there when the run is owned next.
    """

    name = NAME

    def __init__(self, transcript: Transcript, recording: Recording, *, may_differ: bool = False) -> None:
        self.recording, self.time = recording, RecordedClock(recording)
        self.stopped: Divergence | None = None
        self.dead = False
        self.first: Divergence | None = None
        self.refusal: Callable[[Draft], str | None] = lambda _: None
        self.halt: str | None = None
        self.started: dict[str, int] = {}
        self.asked: defaultdict[str, list[int]] = defaultdict(list)
        self.changed = asyncio.Event()
        self.held_up: list[asyncio.Future[None]] = []
        self.by_others = 0
        self._may_differ = may_differ
        self._run = RunKey(transcript.thread, transcript.n)
        self._artifacts = dict(transcript.artifacts)
        self._events: list[Event] = []
        self._tokens = 0

    @property
    def free(self) -> bool:
        """Whether the graph has left the record."""
        return self.first is not None

    async def open_run(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> RunKey:
        """Start the run, as it was started."""
        run = RunKey(thread, self._run.n)
        self._write([draft.of_run(thread, run.n) for draft in drafts], artifacts)
        return run

    @asynccontextmanager
    async def begun(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> AsyncIterator[Owned]:
        """Start the run, as it was started, and own it."""
        async with self.owned_and_read(await self.open_run(thread, drafts, artifacts)) as owned:
            yield owned

    @asynccontextmanager
    async def owned(self, run: RunKey) -> AsyncIterator[Lease]:
        """Own the run: a replay has no other owner."""
        self._alive()
        while self.by_others:
            self.by_others -= 1
            self.skip()
        self._tokens += 1
        self.time.begin()
        yield Lease(run, 1, self._tokens)

    @asynccontextmanager
    async def owned_and_read(
        self,
        run: RunKey,
        after: int = 0,
        opening: Sequence[Draft] = (),  # noqa: ARG002  (the record decides whether a message comes first)
    ) -> AsyncIterator[Owned]:
        """Own the run, and read on."""
        async with self.owned(run) as lease:
            yield Owned(lease, await self.news(lease, after))

    async def news(self, lease: Lease, after: int) -> News:
        """Return the replayed events; messages come from the record in `take_messages`."""
        return News(await self.events(lease.run, after), has_messages=True)

    async def append(
        self,
        lease: Lease,  # noqa: ARG002  (a replay has one owner)
        drafts: Sequence[Draft],
        *,
        artifacts: Sequence[Kept] = (),
        control_seq: int | None = None,  # noqa: ARG002  (a replay has one owner)
        require_empty_inbox: bool = False,
        uses: Sequence[StandingCall] = (),  # noqa: ARG002  (the record says which call was let through)
        caps: Sequence[CapEntry] = (),
    ) -> int:
        """Compare events with the record and keep them; block on events that the recorded process died before writing.

        A step whose work came no further on record while others did waits until those have.
        """
        try:
            if caps:
                self._check_caps(drafts)
            self._write(drafts, artifacts, require_empty_inbox)
        except _Unwritten as unwritten:
            self.stopped = self.stopped or unwritten.difference
            await asyncio.get_running_loop().create_future()
        if not self.free and drafts and self.recording.breaks_off(drafts[-1]):
            self.held_up.append(asyncio.get_running_loop().create_future())
            await self.held_up[-1]
        return len(self._events)

    async def write(
        self,
        by: Lease | RunKey,
        drafts: Sequence[Draft],
        *,
        after: int,
        artifacts: Sequence[Kept] = (),
        control_seq: int | None = None,
        and_release: bool = False,  # noqa: ARG002  (a replay has one owner)
        caps: Sequence[CapEntry] = (),  # noqa: ARG002  (a replay counts nothing)
    ) -> list[Event]:
        """Write events, under a lease or owning the run just for that, and return those after the `after`-th."""
        if isinstance(by, RunKey):
            async with self.owned(by) as lease:
                return await self.write(lease, drafts, after=after, artifacts=artifacts, control_seq=control_seq)
        await self.append(by, drafts, artifacts=artifacts, control_seq=control_seq)
        return await self.events(by.run, after)

    async def take_messages(self, lease: Lease, answer: MessageHandler = no_events) -> list[Message]:  # noqa: ARG002  (one run, with its record)
        """Return the message that was left for the run at this place of the record."""
        self._alive()
        if self.recording.next is not self.recording.barrier or self.free:
            return []
        messages = self.recording.messages_ahead()
        if drafts := answer(messages):
            self._write(drafts, ())
        return messages

    async def events(self, run: RunKey, after: int = 0) -> list[Event]:  # noqa: ARG002  (there is one run)
        """Return the replayed events."""
        self._alive()
        return self._events[after:]

    async def calls_elsewhere(self, run: RunKey) -> list[Call]:  # noqa: ARG002  (there is one run)
        """Return the calls of other runs that the record mentions, in their state at that time."""
        found: dict[str, Call] = {}
        for event in self.recording.events:
            if isinstance(event.data_if_known, StepHeld | StepUncertain):
                for call in other_calls(event.data_if_known):
                    found.setdefault(call.key, call)
        return list(found.values())

    async def give_standing(self, approval: StandingApproval) -> None:
        """Keep nothing: the record of a run that uses it says so."""

    async def standing(
        self,
        tool: str | None = None,  # noqa: ARG002  (the record has those that were used)
        named: Collection[str] = (),  # noqa: ARG002  (the record has those that were used)
    ) -> list[StandingUse]:
        """Return the standing approvals of any run on record, each for the calls that it let through."""
        events = [event.data_if_known for event in self.recording.events]
        wide = [data.approval for data in events if isinstance(data, StandingGiven) and data.approval.run is None]
        calls = [data for data in events if isinstance(data, CallStarted)]
        return [
            StandingUse(replace(one, until=0.0), frozenset(call.key for call in calls if call.approval == one.id))
            for one in wide
        ]

    async def revoke_standing(self, name: str, by: str) -> bool:  # noqa: ARG002  (nobody revokes in a replay)
        """Revoke nothing."""
        return False

    async def now(self) -> float:
        """Return a time at which nothing is due: what fell due is on record."""
        return 0.0

    async def step_history(self, likenesses: Sequence[str]) -> Mapping[str, Sequence[Sample]]:  # noqa: ARG002  (one run, with its record)
        """Return nothing: what a plan may take is on record with it."""
        return {}

    async def last_run(self, thread: str) -> RunKey | None:
        """Return the run, once it was started."""
        return self._run if self._events and thread == self._run.thread else None

    async def latest(
        self, thread: str, known: RunKey | None = None, after: int = 0
    ) -> tuple[RunKey, list[Event]] | None:
        """Return the run with its replayed events, once it was started."""
        run = await self.last_run(thread)
        return None if run is None else (run, await self.events(run, after if run == known else 0))

    async def artifact(self, artifact_id: str) -> str:
        """Return an artifact of the record, or one that was written."""
        if artifact_id not in self._artifacts:
            raise LedgerError(self.name, f"there is no artifact {artifact_id}")
        return self._artifacts[artifact_id]

    def skip(self) -> None:
        """Accept the next recorded event as it is: another process wrote it."""
        event = self.recording.next
        assert event is not None
        self._keep(event, event.payload)
        self.recording.play([self.recording.front])

    def _check_caps(self, drafts: Sequence[Draft]) -> None:
        """Refuse an intent that was refused by a cap on record; a replay counts nothing.

        Raises:
            CapReachedError: It was.
        """
        self._alive()
        starting = [draft for draft in drafts if isinstance(draft.data, CallStarted | ModelStarted)]
        if not starting or self.free or self.recording.place(starting)[1] is None:
            return
        if (reached := self.recording.cap_reached(starting[0].step)) is not None:
            raise CapReachedError(self.name, reached.cap, reached.allows, wait_s=0.0)

    def _alive(self) -> None:
        if self.dead:
            raise ReplayStopped

    def _write(self, drafts: Sequence[Draft], artifacts: Sequence[Kept], require_empty_inbox: bool = False) -> None:
        self._alive()
        self._artifacts.update({kept.artifact.id: kept.text for kept in artifacts if kept.artifact})
        drafts = [draft.with_payload(with_values(draft.payload, self._artifacts)) for draft in drafts]
        compared = [draft for draft in drafts if not self.recording.is_aside(draft)]
        places, difference = self.recording.place(compared) if not self.free else ([], None)
        if difference is not None:
            self._differ(difference, places, require_empty_inbox)
            places = []
        if self.free and (halt := next(filter(None, map(self.refusal, drafts)), None)):
            self.halt, self.dead = halt, True
            raise ReplayStopped
        at = dict(zip(map(id, compared), places, strict=False))
        for draft in drafts:
            self._note(draft, at.get(id(draft)))
        self.recording.play(places)
        self.changed.set()

    def _differ(self, difference: Divergence, places: Sequence[int], require_empty_inbox: bool) -> None:
        """Take up a message that was left for the run, leave the record, or go no further."""
        if require_empty_inbox and self.recording.messages_ahead():
            raise MessageWaitingError(self.name, f"{self._run.thread}.{self._run.n}")
        if difference.recorded is None:
            self.recording.play(places)  # the record ends in the middle of one transaction
        elif self.recording.is_mid_pass and difference.is_of_a_step:
            raise _Unwritten(difference)
        elif self._may_differ and (difference.field or difference.is_of_plans):
            self.first = difference
            return
        self.stopped, self.dead = difference, True
        self.changed.set()
        raise ReplayStopped

    def _note(self, draft: Draft, place: int | None) -> None:
        if place is None:
            self._keep(
                Event(0, draft.kind, draft.step, self._events[-1].at if self._events else 0.0, {}), draft.payload
            )
            return
        recorded = self.recording.events[place]
        if isinstance(draft.data, CallStarted):
            self.started[draft.data.key] = place
        elif isinstance(draft.data, ModelStarted):
            self.asked[draft.data.prompt_digest].append(place)
        self._keep(recorded, _timed(draft.payload, recorded.payload))

    def _keep(self, like: Event, payload: Mapping[str, Any]) -> None:
        self._events.append(Event(len(self._events) + 1, like.kind, like.step, like.at, payload))


def _timed(payload: Mapping[str, Any], recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Return a payload with the times of the record; the checkpoint is the replay's own."""
    times = {name: recorded[name] for name in WORLD & set(recorded) if name != "checkpoint"}
    return {**payload, **times}
