"""The nodes' side of the ledger in memory: events of runs, written and read by their owners."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from graph.errors import AgentError
from graph.ledger.chain import Row
from graph.ledger.chaining import of_run
from graph.ledger.lease import PACE, Pace, claimed
from graph.ledger.memory.leases import MemoryAttempt, MemoryLeaseTable
from graph.ledger.memory.store import Store, StoredRun
from graph.ledger.ownership import Ownership
from graph.ledger.protocol import Lease, Message, MessageHandler, News, Owned, RunKey, no_events
from graph.ledger.reading import Snapshot, checked_events, checked_news
from graph.ledger.refusals import (
    check_control_seq,
    check_inbox,
    check_lease,
    lost_artifact,
    not_storable,
)
from graph.ledger.seal import SealKey
from graph.ledger.standing import given_row, may_cover, revoked_row, use_of, used_row
from graph.ledger.transcript import is_artifact
from graph.record.call import Call
from graph.record.caps import CapEntry
from graph.record.events import Draft, Event
from graph.record.other_runs import calls_to_know
from graph.record.projection import project
from graph.record.sample import Sample
from graph.record.standing_approval import StandingApproval, StandingCall, StandingUse
from graph.record.values import Kept

T = TypeVar("T")

IN_MEMORY = ":memory:"
ALONE = "alone"
"""Owner name for the length of one transaction; it is never committed."""


class EventStore:
    """See `graph.ledger.protocol.Ledger`. Ledgers with the same `store` see the same runs; `close` keeps them."""

    def __init__(self, key: SealKey | None = None, store: Store | None = None, pace: Pace = PACE) -> None:
        self.name = IN_MEMORY
        self._key, self._beat_s = key, pace.beat_s
        self._store = store if store is not None else Store()
        self._ownership = Ownership(self.name, MemoryLeaseTable(self._store), set(), pace)

    async def open_run(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> RunKey:
        """Start the thread's next run with its first events; `run_started` learns its thread and number."""
        return await self._do(lambda: self._open_run(thread, drafts, artifacts).key)

    @asynccontextmanager
    async def begun(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> AsyncIterator[Owned]:
        """Start the thread's next run, and own it from its first event on."""

        async def begin(owner: str) -> tuple[Lease, Snapshot]:
            return await self._do(lambda: self._begin(thread, drafts, artifacts, owner))

        async with self._ownership.hold(begin) as (lease, found):
            yield Owned(lease, self._news(lease.run, found, 0))

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
            yield Owned(lease, self._news(run, found, after), opened)

    async def news(self, lease: Lease, after: int) -> News:
        """Return the unread part of an owned run."""
        found = await self._do(lambda: self._refused(lease).found(after))
        return self._news(lease.run, found, after)

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
    ) -> int:
        """Write events, all or none."""

        def write() -> int:
            stored = self._refused(lease, control_seq, require_empty_inbox)
            counted = self._counted(uses)
            seq = self._write_capped(stored, drafts, artifacts, caps)
            for name, rows in counted.items():
                self._store.standing[name] = rows
            return seq

        return await self._do(write)

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
    ) -> list[Event]:
        """Write events and return those after the run's `after`-th, in one transaction."""
        if isinstance(by, Lease):
            found = await self._do(
                lambda: self._write_owned(by, drafts, after, artifacts, control_seq, and_release, caps)
            )
            if and_release:
                self._ownership.held.discard(by)
            return self._checked(by.run, found, after)
        alone = await self._do(lambda: self._write_alone(by, drafts, after, artifacts, control_seq, caps))
        if alone is not None:
            return self._checked(by, alone, after)
        async with self.owned(by) as lease:
            return await self.write(lease, drafts, after=after, artifacts=artifacts, control_seq=control_seq, caps=caps)

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

    async def events(self, run: RunKey, after: int = 0) -> list[Event]:
        """Return a run's events after the `after`-th in order, their chain checked from there on."""
        found = await self._do(lambda: self._store.run(self.name, run).found(after))
        return self._checked(run, found, after)

    async def calls_elsewhere(self, run: RunKey) -> list[Call]:
        """Return calls of the thread's other runs that are uncertain, or were settled as happened."""
        others = await self._do(
            lambda: [one.key for one in self._store.of_thread(run.thread) if one.key != run and one.has_calls_to_know]
        )
        return calls_to_know([project(await self.events(other)) for other in others])

    async def step_history(self, likenesses: Sequence[str]) -> Mapping[str, Sequence[Sample]]:
        """Return what like steps of ended runs took."""
        kept = self._store.history
        return await self._do(lambda: {one: list(kept[one]) for one in likenesses if one in kept})

    async def last_run(self, thread: str) -> RunKey | None:
        """Return the thread's latest run, or None."""
        return await self._do(lambda: next((run.key for run in reversed(self._store.of_thread(thread))), None))

    async def latest(
        self, thread: str, known: RunKey | None = None, after: int = 0
    ) -> tuple[RunKey, list[Event]] | None:
        """Return the thread's latest run with its events, or None."""
        run = await self.last_run(thread)
        return None if run is None else (run, await self.events(run, after if run == known else 0))

    async def artifact(self, artifact_id: str) -> str:
        """Return an artifact's JSON text."""
        content = await self._do(lambda: self._store.artifacts.get(artifact_id))
        if content is None or not is_artifact(artifact_id, content):
            raise lost_artifact(self.name, artifact_id)
        return content

    async def give_standing(self, approval: StandingApproval) -> None:
        """Keep a standing approval that holds in any run; one that is there stays as it is."""
        await self._do(lambda: self._store.standing.setdefault(approval.id, [given_row(approval)]))

    async def standing(self, tool: str | None = None, named: Collection[str] = ()) -> list[StandingUse]:
        """Return the standing approvals that hold, or held, in any run, the oldest first; see `Ledger`."""
        every = await self._do(lambda: {name: list(found) for name, found in self._store.standing.items()})
        left = may_cover({name: rows[0].payload for name, rows in every.items()}, tool, named)
        rows = {name: every[name] for name in left}
        uses = [use_of(self.name, name, found) for name, found in rows.items()]
        return sorted(uses, key=lambda use: use.approval.given_at)

    async def revoke_standing(self, name: str, by: str) -> bool:
        """End a standing approval; return whether there was one to end."""

        def revoke() -> bool:
            rows = self._store.standing.get(name, [])
            row = revoked_row(self.name, rows, name, by)
            rows += [row] if row is not None else []
            return row is not None

        return await self._do(revoke)

    def _counted(self, uses: Sequence[StandingCall]) -> dict[str, list[Row]]:
        """Return the rows of the approvals with these uses counted; nothing is kept yet."""
        found: dict[str, list[Row]] = {}
        for use in uses:
            rows = found.get(use.approval) or list(self._store.standing.get(use.approval, ()))
            row = used_row(self.name, rows, use)
            found[use.approval] = [*rows, *([row] if row is not None else [])]
        return found

    async def now(self) -> float:
        """Return the time of this machine."""
        return time.time()

    async def close(self) -> None:
        """Do nothing: memory stays available for later calls."""

    async def _do(self, work: Callable[[], T]) -> T:
        """Run a function on the store, atomically; yields first, so that other tasks and cancellations get a turn."""
        await asyncio.sleep(0)
        with self._store.lock:
            try:
                return work()
            except AgentError:  # some are ValueErrors
                raise
            except ValueError as error:
                raise not_storable(self.name, error) from error

    def _attempt(self, run: RunKey, read: Callable[[StoredRun], T]) -> MemoryAttempt[T]:
        return MemoryAttempt(self._store, run, read, self._beat_s, self._do)

    def _open_run(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept]) -> StoredRun:
        thread.encode()
        run = self._store.next_key(thread)
        stored = StoredRun(run, self._store.opened + 1)
        self._write(stored, of_run(run, drafts), artifacts)
        self._store.add(stored)
        return stored

    def _begin(
        self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept], owner: str
    ) -> tuple[Lease, Snapshot]:
        stored = self._open_run(thread, drafts, artifacts)
        row = claimed(None, owner)
        assert row is not None
        return stored.hold(row, self._beat_s), stored.found(0)

    def _write_owned(
        self,
        lease: Lease,
        drafts: Sequence[Draft],
        after: int,
        artifacts: Sequence[Kept],
        control_seq: int | None,
        and_release: bool,
        caps: Sequence[CapEntry],
    ) -> Snapshot:
        stored = self._refused(lease, control_seq)
        self._write_capped(stored, drafts, artifacts, caps)
        if and_release:
            stored.release(lease.token)
        return stored.found(after)

    def _write_alone(
        self,
        run: RunKey,
        drafts: Sequence[Draft],
        after: int,
        artifacts: Sequence[Kept],
        control_seq: int | None,
        caps: Sequence[CapEntry],
    ) -> Snapshot | None:
        """Own a run for one transaction; return None if somebody else owns it."""
        stored = self._store.run(self.name, run)
        row = claimed(stored.look(), ALONE)
        if row is None:
            return None
        if control_seq is not None:
            check_control_seq(self.name, run, control_seq, stored.control_seq)
        self._write_capped(stored, drafts, artifacts, caps)
        stored.hold(row, self._beat_s)
        stored.release(row.token)
        return stored.found(after)

    def _write_capped(
        self, stored: StoredRun, drafts: Sequence[Draft], artifacts: Sequence[Kept], caps: Sequence[CapEntry]
    ) -> int:
        """Write events, and count what they take of caps once they are written."""
        entered = self._store.caps.entered(self.name, caps) if caps else None
        seq = self._write(stored, drafts, artifacts)
        if entered is not None:
            self._store.caps.keep(entered)
        return seq

    def _write(self, stored: StoredRun, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> int:
        return self._store.write(self.name, self._key, stored, drafts, artifacts)

    def _refused(self, lease: Lease, control_seq: int | None = None, require_empty_inbox: bool = False) -> StoredRun:
        """Return the run of a lease; raise if the lease or its holder's last control event is outdated."""
        stored = self._store.run(self.name, lease.run)
        check_lease(self.name, lease, stored.look())
        if control_seq is not None:
            check_control_seq(self.name, lease.run, control_seq, stored.control_seq)
        if require_empty_inbox:
            check_inbox(self.name, lease.run, bool(stored.inbox))
        return stored

    def _checked(self, run: RunKey, found: Snapshot, after: int) -> list[Event]:
        return checked_events(self.name, self._key, run, found, after)

    def _news(self, run: RunKey, found: Snapshot, after: int) -> News:
        return checked_news(self.name, self._key, run, found, after)
