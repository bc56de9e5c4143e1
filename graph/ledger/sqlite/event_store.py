"""The nodes' side of the ledger in an SQLite file: events of runs, written and read by their owners."""

import sqlite3
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from planner_executor.graph.ledger.chaining import must_sync, of_run
from planner_executor.graph.ledger.family import effects_in, source_of
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.lease import PACE, Holder, Pace
from planner_executor.graph.ledger.owned_writer import ALONE, Batch, OwnedWriter
from planner_executor.graph.ledger.ownership import Held, Ownership
from planner_executor.graph.ledger.protocol import (
    NOTHING_SEEN,
    Lease,
    Message,
    MessageHandler,
    News,
    Owned,
    RunKey,
    no_events,
)
from planner_executor.graph.ledger.reading import Snapshot
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.sqlite.caps_table import enter
from planner_executor.graph.ledger.sqlite.database import Database
from planner_executor.graph.ledger.sqlite.event_reader import EventReader
from planner_executor.graph.ledger.sqlite.event_writer import EventWriter
from planner_executor.graph.ledger.sqlite.family_table import check_family, family_of
from planner_executor.graph.ledger.sqlite.lease import beat, claim, release
from planner_executor.graph.ledger.sqlite.lease_table import SqliteAttempt, SqliteLeaseTable, beats_of
from planner_executor.graph.ledger.sqlite.queries import (
    found_of,
    head_of,
    next_number,
    next_row,
    run_id_of,
)
from planner_executor.graph.ledger.sqlite.standing_table import count
from planner_executor.graph.record.caps import CapEntry
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.record.standing_approval import StandingCall
from planner_executor.graph.record.values import Kept


class EventStore(OwnedWriter, EventReader):
    """See `graph.ledger.protocol.Ledger`. One connection per file and process; the file is created with mode 0600."""

    def __init__(self, path: str | Path, key: SealKey | None = None, pace: Pace = PACE) -> None:
        held: Held = {}
        name = str(path)
        super().__init__(self._database(name, held, pace.beat_s), name, key)
        self._writer = EventWriter(name, key)
        self._ownership = Ownership(self.name, SqliteLeaseTable(self._file), held, pace)

    async def open_run(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> RunKey:
        """Start the thread's next run with its first events; `run_started` learns its thread and number."""
        return await self._file.do(partial(self._open_run, thread=thread, drafts=drafts, artifacts=artifacts))

    @asynccontextmanager
    async def begun(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> AsyncIterator[Owned]:
        """Start the thread's next run, and own it from its first event on."""

        async def begin(owner: str) -> tuple[Lease, Snapshot]:
            return await self._file.do(lambda db: self._begin(db, thread, drafts, artifacts, owner))

        async with self._ownership.hold(begin) as (lease, found):
            yield Owned(lease, self._news(lease.run, found, 0))

    @asynccontextmanager
    async def owned(self, run: RunKey) -> AsyncIterator[Lease]:
        """Own a run for the length of the block; the writer's thread sends the heartbeat."""
        attempt = SqliteAttempt(self._file, run, self._writer, lambda _db, _lease: None)
        async with self._ownership.acquire(attempt) as (lease, _):
            yield lease

    @asynccontextmanager
    async def owned_and_read(self, run: RunKey, after: int = 0, opening: Sequence[Draft] = ()) -> AsyncIterator[Owned]:
        """Own a run for a while, as `owned` does, and read on in the transaction that takes it."""

        def read(db: sqlite3.Connection, lease: Lease) -> tuple[Snapshot, bool]:
            found = found_of(db, lease.run_id, after)
            # Opening events rest on the record as the caller has read it; if it has moved, the caller decides anew.
            if not opening or not found.is_as_read(after):
                return found, False
            self._writer.write(db, head_of(db, run, lease.run_id), opening)
            return found_of(db, lease.run_id, after), True

        attempt = SqliteAttempt(self._file, run, self._writer, read, full=must_sync(opening))
        async with self._ownership.acquire(attempt) as (lease, (found, opened)):
            yield Owned(lease, self._news(run, found, after), opened)

    async def news(self, lease: Lease, after: int) -> News:
        """Return the unread part of an owned run."""

        def found(db: sqlite3.Connection) -> Snapshot:
            self._checked_head(db, lease)
            return found_of(db, lease.run_id, after)

        return self._news(lease.run, await self._file.look(found), after)

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

        full, asked_s = must_sync(drafts), self._ownership.now_s()

        def write(db: sqlite3.Connection) -> int:
            head = self._checked_head(db, lease, control_seq, require_empty_inbox)
            check_family(db, self.name, head, effects_in(drafts), seen)
            count(db, self.name, uses)
            if caps:
                enter(db, self.name, caps)
            if full:  # an effect may follow: this heartbeat is the proof that it needs
                beat(db, [lease])
            return self._writer.write(db, head, drafts, artifacts)

        seq = await self._file.do(write, full=full)
        if full:
            self._ownership.note_proof(lease, asked_s)
        return seq

    async def _look_at(self, lease: Lease) -> object:
        def look(db: sqlite3.Connection) -> None:
            self._checked_head(db, lease)
            beat(db, [lease])

        return await self._file.do(look)

    async def _written(self, by: Lease | RunKey, batch: Batch, after: int, and_release: bool) -> Snapshot | None:
        def write(db: sqlite3.Connection) -> Snapshot | None:
            lease = by if isinstance(by, Lease) else claim(db, by, run_id_of(db, by), ALONE)
            if isinstance(lease, Holder):
                return None
            head = self._checked_head(db, lease, batch.control_seq)
            if batch.caps:
                enter(db, self.name, batch.caps)
            self._writer.write(db, head, batch.drafts, batch.artifacts)
            if and_release or isinstance(by, RunKey):
                release(db, lease)
            return found_of(db, lease.run_id, after)

        return await self._file.do(write, full=must_sync(batch.drafts))

    async def take_messages(self, lease: Lease, answer: MessageHandler = no_events) -> list[Message]:
        """Empty a run's inbox and write the events of `answer`, atomically."""

        def is_empty(db: sqlite3.Connection) -> bool:
            return not self._checked_head(db, lease).has_messages

        def take(db: sqlite3.Connection) -> list[Message]:
            head = self._checked_head(db, lease)
            query = "DELETE FROM ledger_inbox WHERE run = ? RETURNING id, message"
            messages: list[Message] = [message for _, message in sorted(db.execute(query, (lease.run_id,)).fetchall())]
            if drafts := answer(messages):
                self._writer.write(db, head, drafts)
            return messages

        # The inbox is empty nearly always, and to look takes no write lock.
        return [] if await self._file.look(is_empty) else await self._file.do(take, full=True)

    async def close(self) -> None:
        """Let go of the file."""
        await self._file.close()

    def _has_read(self, run: RunKey, found: Snapshot, events: Sequence[Event]) -> None:
        self._writer.index.folded.has_read(run, found.rows, events)

    def _database(self, name: str, held: Collection[Lease], beat_s: float) -> Database:
        return Database(name, beats_of(held), beat_s)

    def _begin(
        self, db: sqlite3.Connection, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept], owner: str
    ) -> tuple[Lease, Snapshot]:
        run = self._open_run(db, thread, drafts, artifacts)
        lease = claim(db, run, run_id_of(db, run), owner)
        assert isinstance(lease, Lease)  # no other owner: the run is not committed yet
        return lease, found_of(db, lease.run_id, 0)

    def _open_run(
        self, db: sqlite3.Connection, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept]
    ) -> RunKey:
        run, run_id = RunKey(thread, next_number(db, thread)), next_row(db)
        row = (run_id, run.thread, run.n, family_of(db, run_id, thread, source_of(drafts)))
        db.execute("INSERT INTO ledger_runs (id, thread, n, family) VALUES (?, ?, ?, ?)", row)
        self._writer.write(db, head_of(db, run, run_id), of_run(run, drafts), artifacts)
        return run

    def _checked_head(
        self, db: sqlite3.Connection, lease: Lease, control_seq: int | None = None, require_empty_inbox: bool = False
    ) -> Head:
        """Return a run; raise if the lease or its holder's last control event is outdated."""
        head = head_of(db, lease.run, lease.run_id)
        head.check(self.name, lease, control_seq, require_empty_inbox)
        return head
