"""The nodes' side of the ledger in a PostgreSQL database: events of runs, written and read by their owners."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence, Set
from contextlib import asynccontextmanager

import psycopg

from graph.errors import LedgerError
from graph.ledger.lease import PACE, Holder, Pace
from graph.ledger.ownership import Ownership
from graph.ledger.postgres.caps_table import enter
from graph.ledger.postgres.database import Database
from graph.ledger.postgres.event_writer import EventWriter
from graph.ledger.postgres.held_leases import HeldLeases
from graph.ledger.postgres.history_table import history
from graph.ledger.postgres.lease import claim, release
from graph.ledger.postgres.lease_table import PostgresAttempt, PostgresLeaseTable
from graph.ledger.postgres.queries import (
    Head,
    found_of,
    head_of,
    last_number,
    locked,
    run_id_of,
    runs_to_know,
    runs_to_know_if_damaged,
)
from graph.ledger.postgres.standing_table import count, give, revoke, standing
from graph.ledger.postgres.transaction import Transaction
from graph.ledger.protocol import Lease, Message, MessageHandler, News, Owned, RunKey, no_events
from graph.ledger.reading import Snapshot, checked_events, checked_news
from graph.ledger.refusals import lost_artifact
from graph.ledger.seal import SealKey
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
    """See `graph.ledger.protocol.Ledger`. The connections to one address are shared in a process."""

    def __init__(self, address: str, key: SealKey | None = None, pace: Pace = PACE) -> None:
        held: set[Lease] = set()
        self._file = self._database(address, held, pace.beat_s)
        self.name = self._file.name
        self._key, self._lease_s, self._silent_s = key, pace.lease_s, max(pace.lease_s, pace.beat_s)
        self._writer = EventWriter(self.name, key)
        self._held = HeldLeases()
        self._ownership = Ownership(self.name, PostgresLeaseTable(self._file), held, pace)

    async def open_run(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> RunKey:
        """Start the thread's next run with its first events; `run_started` learns its thread and number."""
        return (await self._file.do(lambda tx: self._writer.open_run(tx, thread, drafts, artifacts), thread)).run

    @asynccontextmanager
    async def begun(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> AsyncIterator[Owned]:
        """Start the thread's next run, and own it from its first event on."""

        async def begin(owner: str) -> tuple[Lease, Snapshot]:
            begun = await self._file.do(lambda tx: self._begin(tx, thread, drafts, artifacts, owner), thread)
            self._held.add(begun[0], owner)
            return begun

        async with self._ownership.hold(begin) as (lease, found):
            with self._held.noted(lease, found.seq):
                yield Owned(lease, self._news(lease.run, found, 0))

    @asynccontextmanager
    async def owned(self, run: RunKey) -> AsyncIterator[Lease]:
        """Own a run for the length of the block; a thread of its own sends the heartbeat."""
        attempt = PostgresAttempt(self._file, run, lambda _tx, _head, _lease: None, self._held, self._lease_s)
        async with self._ownership.acquire(attempt) as (lease, _):
            with self._held.noted(lease):
                yield lease

    @asynccontextmanager
    async def owned_and_read(self, run: RunKey, after: int = 0, opening: Sequence[Draft] = ()) -> AsyncIterator[Owned]:
        """Own a run for a while, as `owned` does, and read on in the transaction that takes it."""

        def read(tx: Transaction, head: Head, _lease: Lease) -> tuple[Snapshot, bool]:
            found = found_of(tx, head.run_id, after)
            if not opening or not found.is_as_read(after):
                return found, False
            self._writer.write(tx, head, opening)
            return found_of(tx, head.run_id, after), True

        full = not all(draft.safe for draft in opening)
        attempt = PostgresAttempt(self._file, run, read, self._held, self._lease_s, full)
        async with self._ownership.acquire(attempt) as (lease, (found, opened)):
            with self._held.noted(lease, found.seq):
                yield Owned(lease, self._news(run, found, after), opened)

    async def news(self, lease: Lease, after: int) -> News:
        """Return the unread part of an owned run."""

        def found(tx: Transaction) -> Snapshot:
            self._held.check(self.name, head_of(tx, self.name, lease.run), lease)
            return found_of(tx, lease.run_id, after)

        return self._news(lease.run, await self._file.look(found, lease.run.thread), after)

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
        full, may_guess = not all(draft.safe for draft in drafts), bool(drafts)

        def write(tx: Transaction) -> int:
            nonlocal may_guess
            head = self._held.guessed(tx, lease, control_seq, require_empty_inbox) if may_guess else None
            may_guess = False
            if head is None:
                head = locked(tx, self.name, lease.run)
                self._held.check(self.name, head, lease, control_seq, require_empty_inbox)
            count(tx, self.name, uses)
            enter(tx, self.name, caps)
            head = self._writer.write(tx, head, drafts, artifacts)
            self._held.leave(lease, head)
            return head.seq

        seq = await self._file.do(write, lease.run.thread, full=full)
        self._held.note(lease, seq)
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
    ) -> list[Event]:
        """Write events and return those after the run's `after`-th, in one transaction."""
        full, run = not all(draft.safe for draft in drafts), by if isinstance(by, RunKey) else by.run

        def write(tx: Transaction) -> Snapshot | None:
            head = locked(tx, self.name, run)
            if isinstance(by, Lease):
                self._held.check(self.name, head, by, control_seq)
            elif isinstance(lease := claim(tx, head, ALONE, self._lease_s), Holder):
                return None
            else:
                head = head._replace(holder=Holder(ALONE, lease.token))
                self._held.check(self.name, head, lease, control_seq)
            enter(tx, self.name, caps)
            left = self._writer.write(tx, head, drafts, artifacts)
            if isinstance(by, Lease):
                self._held.leave(by, left)
            if head.holder is not None and (and_release or isinstance(by, RunKey)):
                release(tx, head, head.holder.token)
            return found_of(tx, head.run_id, after)

        found = await self._file.do(write, run.thread, full=full)
        if isinstance(by, Lease) and found is not None:
            self._held.note(by, found.seq)
        if isinstance(by, Lease) and and_release:
            self._ownership.held.discard(by)
        if found is not None:
            return self._checked(run, found, after)
        async with self.owned(run) as lease:
            return await self.write(lease, drafts, after=after, artifacts=artifacts, control_seq=control_seq, caps=caps)

    async def take_messages(self, lease: Lease, answer: MessageHandler = no_events) -> list[Message]:
        """Empty a run's inbox and write the events of `answer`, atomically."""

        def is_empty(tx: Transaction) -> bool:
            head = head_of(tx, self.name, lease.run)
            self._held.check(self.name, head, lease)
            return not head.has_messages

        def take(tx: Transaction) -> list[Message]:
            head = locked(tx, self.name, lease.run)
            self._held.check(self.name, head, lease)
            taken = tx.ask("DELETE FROM ledger_inbox WHERE run = %s RETURNING id, message", lease.run_id)
            messages: list[Message] = [message for _, message in sorted(taken)]
            if drafts := answer(messages):
                self._held.leave(lease, self._writer.write(tx, head, drafts))
            return messages

        thread = lease.run.thread
        return [] if await self._file.look(is_empty, thread) else await self._file.do(take, thread, full=True)

    async def events(self, run: RunKey, after: int = 0) -> list[Event]:
        """Return a run's events after the `after`-th in order, their chain checked from there on."""
        found = await self._file.look(lambda tx: found_of(tx, run_id_of(tx, self.name, run), after), run.thread)
        return self._checked(run, found, after)

    async def calls_elsewhere(self, run: RunKey) -> list[Call]:
        """Return calls of the thread's other runs that are uncertain, or were settled as happened."""

        def others(tx: Transaction) -> list[int]:
            return runs_to_know(tx, run)

        try:
            found = await self._file.look(others, run.thread)
        except LedgerError as error:
            if not isinstance(error.__cause__, psycopg.DataError):
                raise
            found = await self._file.look(lambda tx: runs_to_know_if_damaged(tx, run), run.thread)
        return calls_to_know([project(await self.events(RunKey(run.thread, n))) for n in found])

    async def step_history(self, likenesses: Sequence[str]) -> Mapping[str, Sequence[Sample]]:
        """Return what like steps of ended runs took."""
        return await self._file.look(lambda tx: history(tx, likenesses))

    async def last_run(self, thread: str) -> RunKey | None:
        """Return the thread's latest run, or None."""
        n = await self._file.look(lambda tx: last_number(tx, thread), thread)
        return RunKey(thread, n) if n else None

    async def latest(
        self, thread: str, known: RunKey | None = None, after: int = 0
    ) -> tuple[RunKey, list[Event]] | None:
        """Return the thread's latest run with its events, or None."""

        def look_up(tx: Transaction) -> tuple[RunKey, Snapshot] | None:
            run = RunKey(thread, last_number(tx, thread))
            return (run, found_of(tx, run_id_of(tx, self.name, run), after if run == known else 0)) if run.n else None

        looked_up = await self._file.look(look_up, thread)
        if looked_up is None:
            return None
        run, found = looked_up
        return run, self._checked(run, found, after if run == known else 0)

    async def artifact(self, artifact_id: str) -> str:
        """Return an artifact's JSON text."""
        if not ARTIFACT_ID.fullmatch(artifact_id):
            raise lost_artifact(self.name, artifact_id)
        query = "SELECT content FROM ledger_artifacts WHERE id = %s"
        row = await self._file.look(lambda tx: tx.one(query, artifact_id))
        if row is None or not is_artifact(artifact_id, row[0]):
            raise lost_artifact(self.name, artifact_id)
        content: str = row[0]
        return content

    async def give_standing(self, approval: StandingApproval) -> None:
        """Keep a standing approval that holds in any run."""
        await self._file.do(lambda tx: give(tx, approval), full=True)

    async def standing(self, tool: str | None = None, named: Collection[str] = ()) -> list[StandingUse]:
        """Return the standing approvals that hold, or held, in any run; see `Ledger`."""
        return await self._file.look(lambda tx: standing(tx, self.name, tool, named))

    async def revoke_standing(self, name: str, by: str) -> bool:
        """End a standing approval; return whether there was one to end."""
        return await self._file.do(lambda tx: revoke(tx, self.name, name, by), full=True)

    async def now(self) -> float:
        """Return the time of the server."""
        query = "SELECT extract(epoch FROM clock_timestamp())::float8"
        return await self._file.look(lambda tx: float(tx.ask(query)[0][0]))

    async def close(self) -> None:
        """Let go of the database."""
        await self._file.close()

    def _database(self, address: str, held: Set[Lease], beat_s: float) -> Database:
        return Database(address, lambda: tuple(held), beat_s)

    def _begin(
        self, tx: Transaction, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept], owner: str
    ) -> tuple[Lease, Snapshot]:
        head = self._writer.open_run(tx, thread, drafts, artifacts)
        lease = claim(tx, head, owner, self._lease_s)
        assert isinstance(lease, Lease)  # no other owner: the run is not committed yet
        return lease, found_of(tx, lease.run_id, 0)

    def _checked(self, run: RunKey, found: Snapshot, after: int) -> list[Event]:
        return checked_events(self.name, self._key, run, found, after)

    def _news(self, run: RunKey, found: Snapshot, after: int) -> News:
        return checked_news(self.name, self._key, run, found, after)
