"""The ledger in an SQLite file, or in memory."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence, Set
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from graph.errors import (
    LeaseLostError,
    LedgerCorruptError,
    LedgerError,
    MessageWaitingError,
    RunOwnedError,
    StaleRunError,
)
from graph.ledger.protocol import Answer, Health, Lease, Message, News, Owned, Redacted, RunKey, unanswered
from graph.ledger.seal import SealKey
from graph.ledger.sqlite.database import Database
from graph.ledger.sqlite.erasure import erase, redactor_of
from graph.ledger.sqlite.event_writer import EventWriter
from graph.ledger.sqlite.health import examine
from graph.ledger.sqlite.lease import (
    BEAT_S,
    LEASE_S,
    LOOK_S,
    Seen,
    beat,
    claim,
    disown,
    is_gone,
    look,
    new_owner,
    release,
    retire,
    take_over,
)
from graph.ledger.sqlite.queries import (
    control_seq_of,
    has_messages,
    last_number,
    run_id_of,
    runs_to_know,
    transcript_of,
)
from graph.ledger.sqlite.reading import Found, checked_events, found_of
from graph.ledger.sqlite.run_index import differences, rebuild
from graph.ledger.sqlite.run_search import counters, page, run_named
from graph.ledger.sqlite.vacuum import places_of
from graph.ledger.sqlite.writer import Pulse
from graph.ledger.transcript import Transcript, is_artifact
from graph.record.counters import Counters
from graph.record.events import Draft, Event
from graph.record.other_runs import calls_to_know
from graph.record.projection import project
from graph.record.run_filter import RunFilter
from graph.record.run_state import Call, run_name
from graph.record.summary import RunSummary
from graph.record.values import Kept

T = TypeVar("T")

ALONE = "alone"
"""Who owns a run for one transaction; nobody else ever sees this owner."""


def beats_of(held: Set[Lease]) -> Pulse:
    """Return what beats for the leases that are held, by whom is none of its business."""
    return lambda: [partial(beat, lease=lease) for lease in tuple(held)]


def _disown_all(db: sqlite3.Connection, owners: Sequence[str]) -> None:
    for owner in owners:
        disown(db, owner)


class SqliteLedger:
    """See `graph.ledger.protocol.Ledger`. One connection per file and process; the file is created with mode 0600.

    Runs that are begun with a key are sealed with it.
    """

    def __init__(self, path: str | Path, key: SealKey | None = None) -> None:
        self.name = str(path)
        self._key = key
        self._held: set[Lease] = set()
        self._writer = EventWriter(self.name, key)
        self._file = Database(self.name, beats_of(self._held), BEAT_S)

    async def open_run(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> RunKey:
        """Start the thread's next run with its first events; `run_started` learns its thread and number."""
        n = await self._file.do(partial(self._open_run, thread=thread, drafts=drafts, artifacts=artifacts))
        return RunKey(thread, n)

    @asynccontextmanager
    async def begun(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> AsyncIterator[Owned]:
        """Start the thread's next run, and own it from its first event on."""

        async def begin(owners: list[str]) -> tuple[Lease, Found]:
            return await self._file.do(lambda db: self._begin(db, thread, drafts, artifacts, owners))

        async with self._holding(begin) as (lease, found):
            yield Owned(lease, self._news(lease.run, found, 0))

    @asynccontextmanager
    async def owned(self, run: RunKey) -> AsyncIterator[Lease]:
        """Own a run for a while; the heartbeat comes from the writer's thread, whatever the event loop does."""
        async with self._holding(partial(self._own, run, lambda _db, _lease: None)) as (lease, _):
            yield lease

    @asynccontextmanager
    async def owned_and_read(self, run: RunKey, after: int = 0, opening: Sequence[Draft] = ()) -> AsyncIterator[Owned]:
        """Own a run for a while, as `owned` does, and read on in the transaction that takes it."""

        def read(db: sqlite3.Connection, lease: Lease) -> tuple[Found, bool]:
            found = found_of(db, lease.run_id, after)
            if not opening or found.has_messages or found.seq != after:
                return found, False
            self._writer.write(db, run, lease.run_id, opening)
            return found_of(db, lease.run_id, after), True

        full = not all(draft.safe for draft in opening)
        async with self._holding(partial(self._own, run, read, full=full)) as (lease, (found, opened)):
            yield Owned(lease, self._news(run, found, after), opened)

    async def news(self, lease: Lease, after: int) -> News:
        """Return what came after the `after`-th event of a run that is owned."""

        def found(db: sqlite3.Connection) -> Found:
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
        heed: bool = False,
    ) -> int:
        """Write events, all or none."""
        full = not all(draft.safe for draft in drafts)

        def write(db: sqlite3.Connection) -> int:
            self._refuse(db, lease, control_seq, heed)
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
        lets_go: bool = False,
    ) -> list[Event]:
        """Write events and return those after the run's `after`-th, in one transaction."""
        full, alone = not all(draft.safe for draft in drafts), isinstance(by, RunKey)

        def write(db: sqlite3.Connection) -> Found | None:
            lease = by if isinstance(by, Lease) else claim(db, by, run_id_of(db, by), ALONE)
            if isinstance(lease, Seen):
                return None
            self._refuse(db, lease, control_seq)
            self._writer.write(db, lease.run, lease.run_id, drafts, artifacts)
            if lets_go or alone:
                release(db, lease)
            return found_of(db, lease.run_id, after)

        found = await self._file.do(write, full=full)
        if isinstance(by, Lease):
            assert found is not None
            if lets_go:
                self._held.discard(by)
            return self._checked(by.run, found, after)
        if found is not None:
            return self._checked(by, found, after)
        async with self.owned(by) as lease:
            return await self.write(lease, drafts, after=after, artifacts=artifacts, control_seq=control_seq)

    async def post(self, run: RunKey, message: Message) -> None:
        """Leave a message for whoever works on the run next, or now."""
        query = "INSERT INTO ledger_inbox (run, message) VALUES (?, ?)"
        await self._file.do(lambda db: db.execute(query, (run_id_of(db, run), message)), full=True)

    async def take_messages(self, lease: Lease, answer: Answer = unanswered) -> list[Message]:
        """Empty a run's inbox and write what answers its messages, both or neither."""

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

    async def is_worked_on(self, run: RunKey) -> bool:
        """Whether somebody owns the run whose process is not known to be gone."""

        def is_held(db: sqlite3.Connection) -> bool:
            seen = look(db, run_id_of(db, run))
            return seen is not None and bool(seen.owner) and not is_gone(seen.owner)

        return await self._file.look(is_held)

    async def events(self, run: RunKey, after: int = 0) -> list[Event]:
        """Return a run's events after the `after`-th in order, their chain checked from there on."""
        found = await self._file.look(lambda db: found_of(db, run_id_of(db, run), after))
        return self._checked(run, found, after)

    async def transcript(self, run: RunKey) -> Transcript:
        """Return everything that is stored of a run."""
        return await self._file.look(partial(transcript_of, run=run))

    async def redact(self, thread: str, value: str, by: str, reason: str) -> Redacted:
        """Take a value out of all that is kept of a thread, and out of the file."""
        forms = redactor_of(value).forms
        runs = [
            RunKey(thread, n) for n in range(1, (await self._file.look(partial(last_number, thread=thread)) or 0) + 1)
        ]
        async with AsyncExitStack() as owned:
            for run in runs:
                await owned.enter_async_context(self.owned(run))
            erased = partial(erase, writer=self._writer, runs=runs, value=value, by=by, reason=reason)
            done: Redacted = await self._file.do(erased, full=True)
        await self._file.compact()
        return replace(done, remaining=tuple(await self._file.look(lambda db: places_of(db, forms))))

    async def calls_elsewhere(self, run: RunKey) -> list[Call]:
        """Return calls of the thread's other runs that are uncertain, or of which a person says that they happened."""
        others = await self._file.look(partial(runs_to_know, run=run))
        return calls_to_know([project(await self.events(RunKey(run.thread, n))) for n in others])

    async def last_run(self, thread: str) -> RunKey | None:
        """Return the thread's latest run, or None."""
        n = await self._file.look(partial(last_number, thread=thread))
        return RunKey(thread, n) if n else None

    async def latest(self, thread: str) -> tuple[RunKey, list[Event]] | None:
        """Return the thread's latest run with its events, or None."""

        def look_up(db: sqlite3.Connection) -> tuple[RunKey, Found] | None:
            run = RunKey(thread, last_number(db, thread) or 0)
            return (run, found_of(db, run_id_of(db, run), 0)) if run.n else None

        looked_up = await self._file.look(look_up)
        if looked_up is None:
            return None
        run, found = looked_up
        return run, self._checked(run, found, 0)

    async def runs(self) -> list[RunKey]:
        """Return all runs, the latest first."""
        found = await self._file.look(
            lambda db: db.execute("SELECT thread, n FROM ledger_runs ORDER BY id DESC").fetchall()
        )
        return [RunKey(thread, n) for thread, n in found]

    async def named(self, name: str) -> list[RunKey]:
        """Return the run of that id, or the latest of that thread, or of each of a few threads that begin so."""
        return await self._file.look(partial(run_named, name=name))

    async def page(self, wanted: RunFilter) -> list[RunSummary]:
        """Return a page of the index of runs, the latest first."""
        return await self._file.look(partial(page, wanted=wanted))

    async def counters(self) -> Counters:
        """Return what is counted over all runs."""
        return await self._file.look(partial(counters, now=time.time()))

    async def reindex(self) -> int:
        """Make the index of runs anew from their events, and return how many there are."""
        return await self._file.do(rebuild, full=True)

    async def misindexed(self) -> list[str]:
        """Return the names of the runs whose row in the index is not what follows from their events."""
        return await self._file.look(lambda db: list(differences(db)))

    async def artifact(self, artifact_id: str) -> str:
        """Return an artifact's JSON text."""
        query = "SELECT content FROM ledger_artifacts WHERE id = ?"
        row = await self._file.look(lambda db: db.execute(query, (artifact_id,)).fetchone())
        if row is None or not is_artifact(artifact_id, row[0]):
            raise LedgerCorruptError(self.name, "(any)", 0, f"names artifact {artifact_id}, which is lost or changed")
        content: str = row[0]
        return content

    async def health(self) -> Health:
        """Return how the file is; the events themselves are checked when a run is read."""
        return await self._file.look(lambda db: examine(db, Path(self.name)))

    async def close(self) -> None:
        """Let go of the file."""
        await self._file.close()

    @asynccontextmanager
    async def _holding(self, own: Callable[[list[str]], Awaitable[tuple[Lease, T]]]) -> AsyncIterator[tuple[Lease, T]]:
        """Have a lease for a while, as `own` takes it, and give it back; whoever had it is known to be done then."""
        owners: list[str] = []
        try:
            async with self._given_back(own, owners) as owned:
                yield owned
        finally:
            for owner in owners:
                retire(owner)

    @asynccontextmanager
    async def _given_back(
        self, own: Callable[[list[str]], Awaitable[tuple[Lease, T]]], owners: list[str]
    ) -> AsyncIterator[tuple[Lease, T]]:
        """Have a lease for a while, and give it back where that was not done with the last events."""
        try:
            lease, found = await own(owners)
        except asyncio.CancelledError:
            with suppress(LedgerError):  # the claim may be committed all the same, a moment from now
                await asyncio.shield(self._file.do(partial(_disown_all, owners=owners)))
            raise
        self._held.add(lease)
        try:
            yield lease, found
        finally:
            if lease in self._held:
                self._held.discard(lease)
                with suppress(LedgerError):  # whoever finds it in the file learns that it has run out
                    await asyncio.shield(self._file.do(partial(release, lease=lease)))

    async def _own(
        self, run: RunKey, read: Callable[[sqlite3.Connection, Lease], T], owners: list[str], *, full: bool = False
    ) -> tuple[Lease, T]:
        """Take the run when nobody has it, or when its owner is gone, and `read` in the same transaction.

        `owners` learns the name of the new owner.
        """

        def claimed(db: sqlite3.Connection) -> tuple[Lease, T] | Seen:
            run_id = run_id_of(db, run)
            owners.append(new_owner())  # looks at files, so not on the event loop's thread
            lease = claim(db, run, run_id, owners[-1])
            return lease if isinstance(lease, Seen) else (lease, read(db, lease))

        def taken_over(db: sqlite3.Connection) -> tuple[Lease, T] | None:
            lease = take_over(db, run, run_id_of(db, run), owners[-1], last)
            return None if lease is None else (lease, read(db, lease))

        found = await self._file.do(claimed, full=full)
        if not isinstance(found, Seen):
            return found
        last = seen = found
        if not await self._file.look(lambda _: is_gone(seen.owner)):
            last = await self._outlast(run, seen)
        taken = await self._file.do(taken_over, full=full)
        if taken is None:
            raise RunOwnedError(self.name, run_name(run.thread, run.n))
        return taken

    async def _outlast(self, run: RunKey, seen: Seen) -> Seen:
        """Watch the heartbeat; return the row once it is free or has stood still for long enough."""
        until = time.monotonic() + LEASE_S
        while time.monotonic() < until:
            await asyncio.sleep(LOOK_S)
            now = await self._file.look(lambda db: look(db, run_id_of(db, run)))
            if now is not None and not now.owner:
                return now
            if now is None or (now.token, now.beat) != (seen.token, seen.beat):
                raise RunOwnedError(self.name, run_name(run.thread, run.n))
        return seen

    def _begin(
        self,
        db: sqlite3.Connection,
        thread: str,
        drafts: Sequence[Draft],
        artifacts: Sequence[Kept],
        owners: list[str],
    ) -> tuple[Lease, Found]:
        run = RunKey(thread, self._open_run(db, thread, drafts, artifacts))
        owners.append(new_owner())
        lease = claim(db, run, run_id_of(db, run), owners[-1])
        assert isinstance(lease, Lease)  # nobody else knows of the run
        return lease, found_of(db, lease.run_id, 0)

    def _checked(self, run: RunKey, found: Found, after: int) -> list[Event]:
        return checked_events(self.name, self._key, run, found, after)

    def _news(self, run: RunKey, found: Found, after: int) -> News:
        return News(self._checked(run, found, after), found.has_messages)

    def _open_run(self, db: sqlite3.Connection, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept]) -> int:
        n = (last_number(db, thread) or 0) + 1
        db.execute("INSERT INTO ledger_runs (thread, n) VALUES (?, ?)", (thread, n))
        named = [draft.of_run(thread, n) for draft in drafts]
        run = RunKey(thread, n)
        self._writer.write(db, run, run_id_of(db, run), named, artifacts)
        return n

    def _refuse(self, db: sqlite3.Connection, lease: Lease, control_seq: int | None = None, heed: bool = False) -> None:
        """Raise if the lease, or what its holder knows, is outdated."""
        name = run_name(lease.run.thread, lease.run.n)
        seen = look(db, lease.run_id)
        if seen is None or seen.token != lease.token or not seen.owner:
            raise LeaseLostError(self.name, name)
        if control_seq is not None and control_seq_of(db, lease.run_id) != control_seq:
            raise StaleRunError(self.name, name)
        if heed and has_messages(db, lease.run_id):
            raise MessageWaitingError(self.name, name)
