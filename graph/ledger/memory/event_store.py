"""The nodes' side of the ledger in memory: events of runs, written and read by their owners."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from planner_executor.graph.ledger.chaining import of_run
from planner_executor.graph.ledger.family import effects_in
from planner_executor.graph.ledger.lease import PACE, Pace, claimed
from planner_executor.graph.ledger.memory.event_reader import EventReader
from planner_executor.graph.ledger.memory.leases import MemoryAttempt, MemoryLeaseTable
from planner_executor.graph.ledger.memory.standing import counted, give
from planner_executor.graph.ledger.memory.store import Store, StoredRun
from planner_executor.graph.ledger.owned_writer import Batch, OwnedWriter
from planner_executor.graph.ledger.ownership import Ownership
from planner_executor.graph.ledger.protocol import NOTHING_SEEN, Lease, Message, MessageHandler, News, Owned, no_events
from planner_executor.graph.ledger.reading import Snapshot
from planner_executor.graph.ledger.refusals import (
    check_control_seq,
    check_inbox,
    check_lease,
)
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.record.caps import CapEntry
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.standing_approval import StandingCall
from planner_executor.graph.record.values import Kept

T = TypeVar("T")


class EventStore(OwnedWriter, EventReader):
    """See `graph.ledger.protocol.Ledger`. Ledgers with the same `store` see the same runs; `close` keeps them."""

    def __init__(self, key: SealKey | None = None, store: Store | None = None, pace: Pace = PACE) -> None:
        super().__init__(store if store is not None else Store(), key)
        self._beat_s = pace.beat_s
        self._ownership = Ownership(self.name, MemoryLeaseTable(self._store), {}, pace)

    async def open_run(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> RunKey:
        """Start the thread's next run with its first events; `run_started` learns its thread and number."""
        return await self._do(lambda: self._open_run(thread, drafts, artifacts).key)

    @asynccontextmanager
    async def begun(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> AsyncIterator[Owned]:
        """Start the thread's next run, and own it from its first event on."""
        own = self._ownership.hold(lambda owner: self._do(lambda: self._begin(thread, drafts, artifacts, owner)))
        async with own as (lease, found):
            yield Owned(lease, await self._news(lease.run, found, 0))

    @asynccontextmanager
    async def owned(self, run: RunKey) -> AsyncIterator[Lease]:
        """Own a run for a while."""
        async with self._ownership.acquire(self._attempt(run, lambda _: None)) as (lease, _):
            yield lease

    @asynccontextmanager
    async def owned_and_read(self, run: RunKey, after: int = 0, opening: Sequence[Draft] = ()) -> AsyncIterator[Owned]:
        """Own a run for a while, as `owned` does, and read on in the transaction that takes it."""

        def read(stored: StoredRun) -> tuple[Snapshot, bool]:
            found = stored.found(after)
            if not opening or not found.is_as_read(after):
                return found, False
            self._write(stored, opening)
            return stored.found(after), True

        async with self._ownership.acquire(self._attempt(run, read)) as (lease, (found, opened)):
            yield Owned(lease, await self._news(run, found, after), opened)

    async def news(self, lease: Lease, after: int) -> News:
        """Return the unread part of an owned run."""
        return await self._news(lease.run, await self._do(lambda: self._refused(lease).found(after)), after)

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

        def write() -> int:
            stored = self._refused(lease, control_seq, require_empty_inbox)
            self._store.check_family(self.name, stored, effects_in(drafts), seen)
            return self._write_counted(stored, Batch(drafts, artifacts, control_seq, caps, uses))

        return await self._do(write)

    async def _look_at(self, lease: Lease) -> object:
        return await self._do(lambda: self._refused(lease))

    async def _written(self, by: Lease | RunKey, batch: Batch, after: int, and_release: bool) -> Snapshot | None:
        if isinstance(by, RunKey):
            return await self._do(lambda: self._write_alone(by, batch, after))

        def write() -> Snapshot:
            stored = self._refused(by, batch.control_seq)
            self._write_counted(stored, batch)
            if and_release:
                stored.release(by.token)
            return stored.found(after)

        return await self._do(write)

    async def take_messages(self, lease: Lease, answer: MessageHandler = no_events) -> list[Message]:
        """Empty a run's inbox and write the events of `answer`, atomically."""

        def take() -> list[Message]:
            stored = self._refused(lease)
            messages = list(stored.inbox)
            if messages and (drafts := answer(messages)):
                self._write(stored, drafts)
            stored.inbox.clear()
            return messages

        return await self._do(take)

    async def close(self) -> None:
        """Do nothing: memory stays available for later calls."""

    def _has_read(self, run: RunKey, found: Snapshot, events: Sequence[Event]) -> None:
        """Do nothing: the fold of a run lives as long as the run."""

    def _attempt(self, run: RunKey, read: Callable[[StoredRun], T]) -> MemoryAttempt[T]:
        return MemoryAttempt(self._store, run, read, self._write, self._beat_s, self._do)

    def _open_run(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept]) -> StoredRun:
        thread.encode()
        run = self._store.next_key(thread)
        stored = StoredRun(run, self._store.opened + 1)
        self._write(stored, of_run(self.name, run, drafts), artifacts)
        self._store.add(stored)
        return stored

    def _begin(
        self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept], owner: str
    ) -> tuple[Lease, Snapshot]:
        stored = self._open_run(thread, drafts, artifacts)
        row = claimed(None, owner)
        assert row is not None
        return stored.hold(row, self._beat_s), stored.found(0)

    def _write_alone(self, run: RunKey, batch: Batch, after: int) -> Snapshot | None:
        """Write to a run that is free, and leave it so under a new token; return None if somebody owns it."""
        stored = self._store.run(self.name, run)
        row = claimed(stored.look(), "")
        if row is None:
            return None
        check_control_seq(self.name, run, batch.control_seq, stored.control_seq)
        self._write_counted(stored, batch)
        stored.hold(row, self._beat_s)
        return stored.found(after)

    def _write_counted(self, stored: StoredRun, batch: Batch) -> int:
        """Write events, and count what they take of standing approvals and caps once they are written."""
        # What may refuse comes first, and is kept only after the events are.
        standing = counted(self._store, self.name, batch.uses)
        entered = self._store.caps.entered(self.name, batch.caps) if batch.caps else None
        seq = self._write(stored, batch.drafts, batch.artifacts)
        self._store.standing.update(standing)
        give(self._store, batch.given)
        if entered is not None:
            self._store.caps.keep(entered)
        return seq

    def _write(self, stored: StoredRun, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> int:
        return self._store.write(self.name, self._key, stored, drafts, artifacts)

    def _refused(self, lease: Lease, control_seq: int | None = None, require_empty_inbox: bool = False) -> StoredRun:
        """Return the run of a lease; raise if the lease or its holder's last control event is outdated."""
        stored = self._store.run(self.name, lease.run)
        check_lease(self.name, lease, stored.look())
        check_control_seq(self.name, lease.run, control_seq, stored.control_seq)
        check_inbox(self.name, lease.run, require_empty_inbox and bool(stored.inbox))
        return stored
