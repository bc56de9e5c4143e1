"""The nodes' side of the ledger in a database: events of runs, written and read by their owners."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple, TypeVar

from planner_executor.graph.ledger.chaining import must_sync
from planner_executor.graph.ledger.family import effects_in
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.ledger.ownership import Held, Ownership
from planner_executor.graph.ledger.protocol import (
    NOTHING_SEEN,
    Lease,
    Message,
    MessageHandler,
    News,
    Owned,
    Proof,
    no_events,
)
from planner_executor.graph.ledger.reading import Snapshot
from planner_executor.graph.ledger.refusals import check_control_seq
from planner_executor.graph.ledger.replaced_owner import replacement
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.tables.caps import enter
from planner_executor.graph.ledger.tables.event_reader import EventReader
from planner_executor.graph.ledger.tables.families import check_family
from planner_executor.graph.ledger.tables.known_leases import KnownLeases
from planner_executor.graph.ledger.tables.lease_table import SqlAttempt, SqlLeaseTable
from planner_executor.graph.ledger.tables.leases import beat, claim, pass_over, release
from planner_executor.graph.ledger.tables.run_rows import snapshot_of
from planner_executor.graph.ledger.tables.runs import head_of, locked
from planner_executor.graph.ledger.tables.standing import count, give
from planner_executor.graph.ledger.tables.transaction import Database, Transaction
from planner_executor.graph.record.caps import CapEntry
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.standing_approval import StandingApproval, StandingCall
from planner_executor.graph.record.values import Kept

T = TypeVar("T")


class Batch(NamedTuple):
    """Events, and what is written or checked with them; see `graph.ledger.protocol.Ledger.write`."""

    drafts: Sequence[Draft]
    artifacts: Sequence[Kept]
    control_seq: int | None
    caps: Sequence[CapEntry]
    uses: Sequence[StandingCall] = ()
    given: Sequence[StandingApproval] = ()


class EventStore(EventReader):
    """See `graph.ledger.protocol.Ledger`; a driver brings its database, and what it knows of the leases in `held`."""

    def __init__(self, file: Database, key: SealKey | None, pace: Pace, held: Held, known: KnownLeases) -> None:
        super().__init__(file, key)
        self._lease_s, self._silent_s = pace.lease_s, max(pace.lease_s, pace.beat_s)
        self._known = known
        self._ownership = Ownership(self.name, SqlLeaseTable(file), held, pace)

    async def open_run(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> RunKey:
        """Start the thread's next run with its first events; `run_started` learns its thread and number."""
        return (await self._file.do(lambda tx: self._writer.open_run(tx, thread, drafts, artifacts), thread)).run

    @asynccontextmanager
    async def begun(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> AsyncIterator[Owned]:
        """Start the thread's next run, and own it from its first event on."""

        async def begin(owner: str) -> tuple[Lease, Snapshot]:
            begun = await self._file.do(lambda tx: self._begin(tx, thread, drafts, artifacts, owner), thread)
            self._known.add(begun[0], owner)
            return begun

        async with self._ownership.hold(begin) as (lease, found):
            with self._known.noted(lease, found.seq):
                yield Owned(lease, await self._news(lease.run, found, 0))

    @asynccontextmanager
    async def owned(self, run: RunKey) -> AsyncIterator[Lease]:
        """Own a run for the length of the block; a thread of the driver sends the heartbeat."""
        async with self._ownership.acquire(self._attempt(run, lambda _tx, _head, _lease: None)) as (lease, _):
            with self._known.noted(lease):
                yield lease

    @asynccontextmanager
    async def owned_and_read(self, run: RunKey, after: int = 0, opening: Sequence[Draft] = ()) -> AsyncIterator[Owned]:
        """Own a run for a while, as `owned` does, and read on in the transaction that takes it."""

        def read(tx: Transaction, head: Head, _lease: Lease) -> tuple[Snapshot, bool]:
            found = snapshot_of(tx, head, after)
            # Opening events rest on the record as the caller has read it; if it has moved, the caller decides anew.
            if not opening or not found.is_as_read(after):
                return found, False
            return snapshot_of(tx, self._writer.write(tx, head, opening), after), True

        attempt = self._attempt(run, read, must_sync(opening))
        async with self._ownership.acquire(attempt) as (lease, (found, opened)):
            with self._known.noted(lease, found.seq):
                yield Owned(lease, await self._news(run, found, after), opened)

    async def news(self, lease: Lease, after: int) -> News:
        """Return the unread part of an owned run."""

        def found(tx: Transaction) -> Snapshot:
            head = head_of(tx, self.name, lease.run)
            self._known.check(self.name, head, lease)
            return snapshot_of(tx, head, after)

        return await self._news(lease.run, await self._file.look(found, lease.run.thread), after)

    async def append(
        self,
        lease: Lease,
        drafts: Sequence[Draft],
        *,
        artifacts: Sequence[Kept] = (),
        control_seq: int | None = None,
        require_empty_inbox: bool = False,
        uses: Sequence[StandingCall] = (),
        caps: Sequence[CapEntry] = (),
        seen: Mapping[RunKey, int] = NOTHING_SEEN,
    ) -> int:
        """Write events, all or none."""
        # An owner may know how its last write left the run, so the first try needs no query before it. The commit
        # checks the guess; after a wrong one the transaction is done again from what is stored.
        may_guess, begun = bool(drafts), effects_in(drafts)
        # The time before the transaction: a proof counts from when it was asked for, however long the answer takes.
        full, is_proved, asked_s = must_sync(drafts), False, self._ownership.now_s()

        def write(tx: Transaction) -> int:
            nonlocal may_guess, is_proved
            head = self._known.guessed(tx, lease, control_seq, require_empty_inbox, begun) if may_guess else None
            may_guess = False
            if head is None:
                head = locked(tx, self.name, lease.run)
                self._known.check(self.name, head, lease, control_seq, require_empty_inbox)
                check_family(tx, self.name, head, begun, seen)
            count(tx, self.name, uses)
            enter(tx, self.name, caps)
            if full:  # an effect may follow
                is_proved = self._known.prove(tx, lease)
            head = self._writer.write(tx, head, drafts, artifacts)
            self._known.leave(lease, head)
            return head.seq

        seq = await self._file.do(write, lease.run.thread, full=full)
        self._known.note(lease, seq)
        if is_proved:
            self._ownership.note_proof(lease, asked_s)
        return seq

    async def write(
        self,
        by: Lease | RunKey,
        drafts: Sequence[Draft],
        *,
        after: int,
        artifacts: Sequence[Kept] = (),
        control_seq: int | None = None,
        and_release: bool = False,
        caps: Sequence[CapEntry] = (),
        uses: Sequence[StandingCall] = (),
        given: Sequence[StandingApproval] = (),
    ) -> list[Event]:
        """Write events and return those after the run's `after`-th, in one transaction."""
        run = by if isinstance(by, RunKey) else by.run
        batch = Batch(drafts, artifacts, control_seq, caps, uses, given)
        found = await self._written(by, batch, after, and_release)
        if found is None:  # owned by another process, which may be dead: only its heartbeat can tell
            async with self.owned(run) as lease:
                return await self.write(lease, after=after, **batch._asdict())
        if and_release and isinstance(by, Lease):
            self._ownership.held.pop(by, None)
        return await self._checked(run, found, after)

    async def prove(self, lease: Lease) -> Proof:
        """Make sure that a lease is in force now, right before an effect."""
        return await self._ownership.prove(lease, lambda: self._look_at(lease))

    async def _look_at(self, lease: Lease) -> object:
        """Read a lease and show that its owner is alive, so that no other takes the run as long as this counts."""

        def look(tx: Transaction) -> None:
            self._known.check(self.name, locked(tx, self.name, lease.run), lease)
            beat(tx, [lease])

        return await self._file.do(look, lease.run.thread)

    async def _written(self, by: Lease | RunKey, batch: Batch, after: int, and_release: bool) -> Snapshot | None:
        """Write a batch in one transaction, and return the run from its `after`-th event on.

        Without a lease the run must be free, and is left so under a new token. None if it has an owner.
        """
        run = by if isinstance(by, RunKey) else by.run

        def write(tx: Transaction) -> Snapshot | None:
            # The run's row is locked for the whole write: what is checked here holds until the commit.
            head = locked(tx, self.name, run)
            if isinstance(by, Lease):
                # A lease is checked in the transaction of its events, or an owner
                # that was frozen would write after another.
                self._known.check(self.name, head, by, batch.control_seq)
            # Without a lease: a run whose owner lives is left to that owner.
            elif not pass_over(tx, head, self._lease_s):
                return None
            else:
                head = self._writer.write(tx, head, replacement(head.holder))
                check_control_seq(self.name, run, batch.control_seq, head.control_seq)
            # Approvals and caps are counted in the transaction of the intent that they let through.
            give(tx, batch.given)
            count(tx, self.name, batch.uses)
            enter(tx, self.name, batch.caps)
            left = self._writer.write(tx, head, batch.drafts, batch.artifacts)
            if isinstance(by, Lease):
                self._known.leave(by, left)
                # Within the same commit: a crash between both would leave the run to an owner that has gone.
                if and_release:
                    release(tx, head, by.token)
            return snapshot_of(tx, left, after)

        found = await self._file.do(write, run.thread, full=must_sync(batch.drafts))
        if isinstance(by, Lease) and found is not None:
            self._known.note(by, found.seq)
        return found

    async def take_messages(self, lease: Lease, answer: MessageHandler = no_events) -> list[Message]:
        """Empty a run's inbox and write the events of `answer`, atomically."""

        def is_empty(tx: Transaction) -> bool:
            head = head_of(tx, self.name, lease.run)
            self._known.check(self.name, head, lease)
            return not head.has_messages

        def take(tx: Transaction) -> list[Message]:
            head = locked(tx, self.name, lease.run)
            self._known.check(self.name, head, lease)
            taken = tx.ask("DELETE FROM ledger_inbox WHERE run = %s RETURNING id, message", lease.run_id)
            # `RETURNING` promises no order.
            messages: list[Message] = [message for _, message in sorted(taken)]
            if drafts := answer(messages):
                self._known.leave(lease, self._writer.write(tx, head, drafts))
            return messages

        thread = lease.run.thread
        # The inbox is empty nearly always, and to look locks nothing.
        return [] if await self._file.look(is_empty, thread) else await self._file.do(take, thread, full=True)

    async def close(self) -> None:
        """Let go of the database."""
        await self._file.close()

    def _attempt(self, run: RunKey, read: Callable[[Transaction, Head, Lease], T], full: bool = False) -> SqlAttempt[T]:
        return SqlAttempt(self._file, run, self._writer, read, self._known, self._lease_s, full)

    def _begin(
        self, tx: Transaction, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept], owner: str
    ) -> tuple[Lease, Snapshot]:
        head = self._writer.open_run(tx, thread, drafts, artifacts)
        lease = claim(tx, head, owner, self._lease_s)
        assert isinstance(lease, Lease)  # no other owner: the run is not committed yet
        return lease, snapshot_of(tx, head, 0)
