"""The ledger of a replay: events of the graph are compared with the record, and kept in memory only."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager

from planner_executor.graph.errors import LedgerError, MessageWaitingError
from planner_executor.graph.ledger.protocol import (
    NOTHING_SEEN,
    Elsewhere,
    Lease,
    Message,
    MessageHandler,
    News,
    Owned,
    Proof,
    no_events,
)
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.caps import CapEntry
from planner_executor.graph.record.events import (
    Arguments,
    CallInherited,
    CallStarted,
    Draft,
    Event,
    StandingGiven,
    StepHeld,
    StepUncertain,
)
from planner_executor.graph.record.other_runs import other_calls
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.sample import Sample
from planner_executor.graph.record.standing_approval import StandingApproval, StandingCall, StandingUse
from planner_executor.graph.record.values import Kept
from planner_executor.graph.replay.playback import NAME, EventsMissing, Playback
from planner_executor.graph.replay.recorded_clock import RecordedClock
from planner_executor.graph.replay.scheduler import Scheduler


class ReplayLedger:
    """See `graph.ledger.protocol.Ledger`; holds the one run that is replayed. Times are those of the record."""

    name = NAME

    def __init__(self, playback: Playback, scheduler: Scheduler) -> None:
        self.time = RecordedClock(playback.recording)
        self._playback, self.recording, self._scheduler = playback, playback.recording, scheduler
        self._tokens = 0

    async def open_run(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> RunKey:
        """Start the run, as it was started."""
        run = RunKey(thread, self._playback.run.n)
        self._playback.write([draft.of_run(thread, run.n) for draft in drafts], artifacts)
        return run

    @asynccontextmanager
    async def begun(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> AsyncIterator[Owned]:
        """Start the run, as it was started, and own it."""
        async with self.owned_and_read(await self.open_run(thread, drafts, artifacts)) as owned:
            yield owned

    @asynccontextmanager
    async def owned(self, run: RunKey) -> AsyncIterator[Lease]:
        """Own the run: a replay has no other owner."""
        self._playback.check_alive()
        # Its process read them when it came to own the run, and not before.
        while self._playback.by_others:
            self._playback.by_others -= 1
            self._playback.skip()
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

    async def prove(self, lease: Lease) -> Proof:  # noqa: ARG002  (a replay has one owner)
        """Return what always counts: a replay has one owner."""
        return lambda: True

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
        seen: Mapping[RunKey, int] = NOTHING_SEEN,  # noqa: ARG002  (the record says what the run knew of others)
    ) -> int:
        """Compare events with the record and keep them; block on those that the process died before writing."""
        try:
            if caps:
                self._playback.check_caps(drafts)
            self._playback.write(drafts, artifacts, require_empty_inbox)
        except EventsMissing as missing:
            # This task waits for good: what the process did not live to write must not be written.
            self._playback.stopped = self._playback.stopped or missing.difference
            await asyncio.get_running_loop().create_future()
        except MessageWaitingError:
            await self._scheduler.after_others()
            raise
        if drafts:
            await self._scheduler.in_turn(drafts[-1])
        return len(self._playback.events)

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
        uses: Sequence[StandingCall] = (),  # noqa: ARG002  (a replay counts nothing)
        given: Sequence[StandingApproval] = (),  # noqa: ARG002  (the record of a run that uses it says so)
    ) -> list[Event]:
        """Write events, under a lease or owning the run just for that, and return those after the `after`-th."""
        if isinstance(by, RunKey):
            async with self.owned(by) as lease:
                return await self.write(lease, drafts, after=after, artifacts=artifacts, control_seq=control_seq)
        await self.append(by, drafts, artifacts=artifacts, control_seq=control_seq)
        return await self.events(by.run, after)

    async def take_messages(self, lease: Lease, answer: MessageHandler = no_events) -> list[Message]:  # noqa: ARG002  (one run, with its record)
        """Return the message that was left for the run at this place of the record."""
        self._playback.check_alive()
        if self.recording.next is not self.recording.barrier or self._playback.free:
            return []
        messages = self.recording.messages_ahead()
        if drafts := answer(messages):
            self._playback.write(drafts, ())
        return messages

    async def events(self, run: RunKey, after: int = 0) -> list[Event]:  # noqa: ARG002  (there is one run)
        """Return the replayed events."""
        self._playback.check_alive()
        return self._playback.events.after(after)

    async def calls_elsewhere(self, run: RunKey, forked_from: str | None = None) -> Elsewhere:  # noqa: ARG002  (one run)
        """Return the calls of other runs that the record mentions, in their state at that time."""
        found: dict[str, Call] = {}
        inherited: dict[str, Arguments] = {}
        for event in self.recording.events:
            data = event.data_if_known
            if isinstance(data, CallInherited):
                inherited[data.key] = data.args
            elif isinstance(data, StepHeld | StepUncertain):
                for call in other_calls(data):
                    found.setdefault(call.key, call)
        return Elsewhere([_with_own_args(call, inherited.get(call.key)) for call in found.values()])

    async def standing(
        self,
        tool: str | None = None,  # noqa: ARG002  (the record has those that were used)
        named: Collection[str] = (),  # noqa: ARG002  (the record has those that were used)
    ) -> list[StandingUse]:
        """Return the standing approvals of any run on record, each for the calls that it let through."""
        events = [event.data_if_known for event in self.recording.events]
        wide = [data.approval for data in events if isinstance(data, StandingGiven) and data.approval.run is None]
        calls = [data for data in events if isinstance(data, CallStarted)]
        uses = {one.id: frozenset(call.key for call in calls if call.approval == one.id) for one in wide}
        # Over for any further call: each lets through the calls that it let through on record, and no other.
        return [StandingUse(one._replace(until=0.0), uses[one.id], is_replayed=True) for one in wide]

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
        return self._playback.run if self._playback.events and thread == self._playback.run.thread else None

    async def latest(
        self, thread: str, known: RunKey | None = None, after: int = 0
    ) -> tuple[RunKey, list[Event]] | None:
        """Return the run with its replayed events, once it was started."""
        run = await self.last_run(thread)
        return None if run is None else (run, await self.events(run, after if run == known else 0))

    async def artifact(self, artifact_id: str) -> str:
        """Return an artifact of the record, or one that was written."""
        if artifact_id not in self._playback.artifacts:
            raise LedgerError(self.name, f"there is no artifact {artifact_id}")
        return self._playback.artifacts[artifact_id]


def _with_own_args(call: Call, args: Arguments | None) -> Call:
    """Return a call with the arguments that a fork inherited it with.

    Where a call is held, the forked step's calls are named whatever their arguments, and without them.
    """
    if args is None:
        return call
    return call._replace(args=args.shown, args_digest=args.digest, args_artifact=args.artifact_id)
