"""The nodes' side of the ledger in an SQLite file: events of runs, written and read by their owners."""

import sqlite3
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence, Set
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from graph.ledger.chaining import of_run
from graph.ledger.lease import PACE, Holder, Pace
from graph.ledger.ownership import Ownership
from graph.ledger.protocol import Lease, Message, MessageHandler, News, Owned, RunKey, no_events
from graph.ledger.reading import Snapshot, checked_events, checked_news
from graph.ledger.refusals import check_control_seq, check_inbox, check_lease, lost_artifact
from graph.ledger.seal import SealKey
from graph.ledger.sqlite.caps_table import enter
from graph.ledger.sqlite.database import Database
from graph.ledger.sqlite.event_writer import EventWriter
from graph.ledger.sqlite.history_table import history
from graph.ledger.sqlite.lease import claim, look, release
from graph.ledger.sqlite.lease_table import SqliteAttempt, SqliteLeaseTable, beats_of
from graph.ledger.sqlite.queries import (
    control_seq_of,
    found_of,
    has_messages,
    last_number,
    next_number,
    next_row,
    run_id_of,
    runs_to_know,
)
from graph.ledger.sqlite.standing_table import count, give, revoke, standing
from graph.ledger.transcript import ARTIFACT_ID, is_artifact
from graph.record.call import Call
from graph.record.caps import CapEntry
from graph.record.events import Draft, Event
from graph.record.other_runs import calls_to_know
from graph.record.projection import project
from graph.record.sample import Sample
from graph.record.standing_approval import StandingApproval, StandingCall, StandingUse
from graph.record.values import Kept

ALONE = "alone"
"""Owner name for the length of one transaction; it is never committed."""


class EventStore:
    """See `graph.ledger.protocol.Ledger`. One connection per file and process; the file is created with mode 0600."""

    def __init__(self, path: str | Path, key: SealKey | None = None, pace: Pace = PACE) -> None:
        held: set[Lease] = set()
        self.name = str(path)
        self._key = key
        self._writer = EventWriter(self.name, key)
        self._file = self._database(held, pace.beat_s)
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
        async with self._ownership.acquire(SqliteAttempt(self._file, run, lambda _db, _lease: None)) as (lease, _):
            yield lease

    @asynccontextmanager
    async def owned_and_read(self, run: RunKey, after: int = 0, opening: Sequence[Draft] = ()) -> AsyncIterator[Owned]:
        """Own a run for a while, as `owned` does, and read on in the transaction that takes it."""

        def read(db: sqlite3.Connection, lease: Lease) -> tuple[Snapshot, bool]:
            found = found_of(db, lease.run_id, after)
            if not opening or not found.is_as_read(after):
                return found, False
            self._writer.write(db, run, lease.run_id, opening)
            return found_of(db, lease.run_id, after), True

        attempt = SqliteAttempt(self._file, run, read, full=not all(draft.safe for draft in opening))
        async with self._ownership.acquire(attempt) as (lease, (found, opened)):
            yield Owned(lease, self._news(run, found, after), opened)

    async def news(self, lease: Lease, after: int) -> News:
        """Return the unread part of an owned run."""

        def found(db: sqlite3.Connection) -> Snapshot:
            self._refuse(db, lease)
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
    ) -> int:
        """Write events, all or none."""
        full = not all(draft.safe for draft in drafts)

        def write(db: sqlite3.Connection) -> int:
            self._refuse(db, lease, control_seq, require_empty_inbox)
            count(db, self.name, uses)
            if caps:
                enter(db, self.name, caps)
            return self._writer.write(db, lease.run, lease.run_id, drafts, artifacts)

        return await self._file.do(write, full=full)

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
        full, alone = not all(draft.safe for draft in drafts), isinstance(by, RunKey)

        def write(db: sqlite3.Connection) -> Snapshot | None:
            lease = by if isinstance(by, Lease) else claim(db, by, run_id_of(db, by), ALONE)
            if isinstance(lease, Holder):
                return None
            self._refuse(db, lease, control_seq)
            if caps:
                enter(db, self.name, caps)
            self._writer.write(db, lease.run, lease.run_id, drafts, artifacts)
            if and_release or alone:
                release(db, lease)
            return found_of(db, lease.run_id, after)

        found = await self._file.do(write, full=full)
        if isinstance(by, Lease):
            assert found is not None
            if and_release:
                self._ownership.held.discard(by)
            return self._checked(by.run, found, after)
        if found is not None:
            return self._checked(by, found, after)
        async with self.owned(by) as lease:
            return await self.write(lease, drafts, after=after, artifacts=artifacts, control_seq=control_seq, caps=caps)

    async def take_messages(self, lease: Lease, answer: MessageHandler = no_events) -> list[Message]:
        """Empty a run's inbox and write the events of `answer`, atomically."""

        def is_empty(db: sqlite3.Connection) -> bool:
            self._refuse(db, lease)
            return not has_messages(db, lease.run_id)

        def take(db: sqlite3.Connection) -> list[Message]:
            self._refuse(db, lease)
            query = "DELETE FROM ledger_inbox WHERE run = ? RETURNING id, message"
            messages: list[Message] = [message for _, message in sorted(db.execute(query, (lease.run_id,)).fetchall())]
            if drafts := answer(messages):
                self._writer.write(db, lease.run, lease.run_id, drafts)
            return messages

        return [] if await self._file.look(is_empty) else await self._file.do(take, full=True)

    async def events(self, run: RunKey, after: int = 0) -> list[Event]:
        """Return a run's events after the `after`-th in order, their chain checked from there on."""
        found = await self._file.look(lambda db: found_of(db, run_id_of(db, run), after))
        return self._checked(run, found, after)

    async def calls_elsewhere(self, run: RunKey) -> list[Call]:
        """Return calls of the thread's other runs that are uncertain, or were settled as happened."""
        others = await self._file.look(partial(runs_to_know, run=run))
        return calls_to_know([project(await self.events(RunKey(run.thread, n))) for n in others])

    async def step_history(self, likenesses: Sequence[str]) -> Mapping[str, Sequence[Sample]]:
        """Return what like steps of ended runs took."""
        return await self._file.look(lambda db: history(db, likenesses))

    async def last_run(self, thread: str) -> RunKey | None:
        """Return the thread's latest run, or None."""
        n = await self._file.look(partial(last_number, thread=thread))
        return RunKey(thread, n) if n else None

    async def latest(
        self, thread: str, known: RunKey | None = None, after: int = 0
    ) -> tuple[RunKey, list[Event]] | None:
        """Return the thread's latest run with its events, or None."""

        def look_up(db: sqlite3.Connection) -> tuple[RunKey, Snapshot] | None:
            run = RunKey(thread, last_number(db, thread) or 0)
            return (run, found_of(db, run_id_of(db, run), after if run == known else 0)) if run.n else None

        looked_up = await self._file.look(look_up)
        if looked_up is None:
            return None
        run, found = looked_up
        return run, self._checked(run, found, after if run == known else 0)

    async def artifact(self, artifact_id: str) -> str:
        """Return an artifact's JSON text."""
        if not ARTIFACT_ID.fullmatch(artifact_id):
            raise lost_artifact(self.name, artifact_id)
        query = "SELECT content FROM ledger_artifacts WHERE id = ?"
        row = await self._file.look(lambda db: db.execute(query, (artifact_id,)).fetchone())
        if row is None or not is_artifact(artifact_id, row[0]):
            raise lost_artifact(self.name, artifact_id)
        content: str = row[0]
        return content

    async def give_standing(self, approval: StandingApproval) -> None:
        """Keep a standing approval that holds in any run."""
        await self._file.do(lambda db: give(db, approval), full=True)

    async def standing(self, tool: str | None = None, named: Collection[str] = ()) -> list[StandingUse]:
        """Return the standing approvals that hold, or held, in any run; see `Ledger`."""
        return await self._file.look(lambda db: standing(db, self.name, tool, named))

    async def revoke_standing(self, name: str, by: str) -> bool:
        """End a standing approval; return whether there was one to end."""
        return await self._file.do(lambda db: revoke(db, self.name, name, by), full=True)

    async def now(self) -> float:
        """Return the time of this machine."""
        return time.time()

    async def close(self) -> None:
        """Let go of the file."""
        await self._file.close()

    def _database(self, held: Set[Lease], beat_s: float) -> Database:
        return Database(self.name, beats_of(held), beat_s)

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
        db.execute("INSERT INTO ledger_runs (id, thread, n) VALUES (?, ?, ?)", (run_id, run.thread, run.n))
        self._writer.write(db, run, run_id, of_run(run, drafts), artifacts)
        return run

    def _checked(self, run: RunKey, found: Snapshot, after: int) -> list[Event]:
        return checked_events(self.name, self._key, run, found, after)

    def _news(self, run: RunKey, found: Snapshot, after: int) -> News:
        return checked_news(self.name, self._key, run, found, after)

    def _refuse(
        self, db: sqlite3.Connection, lease: Lease, control_seq: int | None = None, require_empty_inbox: bool = False
    ) -> None:
        """Raise if the lease or its holder's last control event is outdated."""
        check_lease(self.name, lease, look(db, lease.run_id))
        if control_seq is not None:
            check_control_seq(self.name, lease.run, control_seq, control_seq_of(db, lease.run_id))
        if require_empty_inbox:
            check_inbox(self.name, lease.run, has_messages(db, lease.run_id))
