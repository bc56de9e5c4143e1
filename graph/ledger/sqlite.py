"""The ledger in an SQLite file, or in memory."""

import asyncio
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from graph.errors import (
    LeaseLostError,
    LedgerCorruptError,
    LedgerError,
    LedgerUnavailableError,
    MessageWaitingError,
    RunOwnedError,
    StaleRunError,
)
from graph.ledger.chain import Row, first_link
from graph.ledger.file import advice, create_private, write_ahead
from graph.ledger.health import examine
from graph.ledger.lease import (
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
    take_over,
)
from graph.ledger.protocol import Answer, Health, Lease, Message, RunKey, unanswered
from graph.ledger.rows import (
    SCHEMA,
    control_seq_of,
    last_number,
    rows_of,
    run_id_of,
    write_rows,
)
from graph.ledger.writer import WriterThread
from graph.run.events import Draft, Event
from graph.run.record import run_name
from graph.run.values import Kept

Result = TypeVar("Result")

BUSY_MS = 5_000


class SqliteLedger:
    """See `graph.ledger.protocol.Ledger`. One connection on one thread; the file is created with mode 0600."""

    def __init__(self, path: str | Path) -> None:
        self.name = str(path)
        self._held: set[Lease] = set()
        self._writer = WriterThread(self._connect, self._beats, BEAT_S)

    async def open_run(self, thread: str, drafts: Sequence[Draft]) -> RunKey:
        """Start the thread's next run with its first events; each learns its thread and number."""
        n = await self._do(partial(self._open_run, thread=thread, drafts=drafts), full=False)
        return RunKey(thread, n)

    @asynccontextmanager
    async def owned(self, run: RunKey) -> AsyncIterator[Lease]:
        """Own a run for a while; the heartbeat comes from the writer's thread, whatever the event loop does."""
        owner = await self._do(lambda _: new_owner())  # looks at files, so not on the event loop's thread
        try:
            lease = await self._own(run, owner)
        except asyncio.CancelledError:
            with suppress(LedgerError):  # the claim may be committed all the same
                await asyncio.shield(self._do(partial(disown, owner=owner)))
            raise
        self._held.add(lease)
        try:
            yield lease
        finally:
            self._held.discard(lease)
            with suppress(LedgerError):  # a lease that cannot be given back runs out
                await asyncio.shield(self._do(partial(release, lease=lease)))

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
            return write_rows(db, self.name, lease.run, lease.run_id, drafts, artifacts)

        return await self._do(write, full=full)

    async def post(self, run: RunKey, message: Message) -> None:
        """Leave a message for whoever works on the run next, or now."""
        query = "INSERT INTO ledger_inbox (run, message) VALUES (?, ?)"
        await self._do(lambda db: db.execute(query, (run_id_of(db, run), message)), full=True)

    async def take_messages(self, lease: Lease, answer: Answer = unanswered) -> list[Message]:
        """Empty a run's inbox and write what answers its messages, both or neither."""

        def take(db: sqlite3.Connection) -> list[Message]:
            self._refuse(db, lease)
            query = "DELETE FROM ledger_inbox WHERE run = ? RETURNING id, message"
            messages: list[Message] = [message for _, message in sorted(db.execute(query, (lease.run_id,)).fetchall())]
            if drafts := answer(messages):
                write_rows(db, self.name, lease.run, lease.run_id, drafts, ())
            return messages

        return await self._do(take, full=True)

    async def is_worked_on(self, run: RunKey) -> bool:
        """Whether somebody owns the run whose process is not known to be gone."""

        def is_held(db: sqlite3.Connection) -> bool:
            seen = look(db, run_id_of(db, run))
            return seen is not None and bool(seen.owner) and not is_gone(seen.owner)

        return await self._do(is_held)

    async def events(self, run: RunKey, after: int = 0) -> list[Event]:
        """Return a run's events after the `after`-th in order, their chain checked from there on."""
        rows, written = await self._do(partial(rows_of, run=run, after=after))
        return self._checked(run, rows, written, after)

    async def last_run(self, thread: str) -> RunKey | None:
        """Return the thread's latest run, or None."""
        n = await self._do(partial(last_number, thread=thread))
        return RunKey(thread, n) if n else None

    async def runs(self) -> list[RunKey]:
        """Return all runs, the latest first."""
        found = await self._do(lambda db: db.execute("SELECT thread, n FROM ledger_runs ORDER BY id DESC").fetchall())
        return [RunKey(thread, n) for thread, n in found]

    async def artifact(self, artifact_id: str) -> str:
        """Return an artifact's JSON text."""
        query = "SELECT content FROM ledger_artifacts WHERE id = ?"
        row = await self._do(lambda db: db.execute(query, (artifact_id,)).fetchone())
        if row is None or not isinstance(row[0], str) or sha256(row[0].encode()).hexdigest() != artifact_id:
            raise LedgerCorruptError(self.name, "(any)", 0, f"names artifact {artifact_id}, which is lost or changed")
        content: str = row[0]
        return content

    async def health(self) -> Health:
        """Return how the file is; the events themselves are checked when a run is read."""
        return await self._do(lambda db: examine(db, Path(self.name)))

    async def close(self) -> None:
        """Let go of the file."""
        await self._writer.close()

    async def _do(self, do: Callable[[sqlite3.Connection], Result], *, full: bool = False) -> Result:
        try:
            return await self._writer.run(do, full=full)
        except sqlite3.Error as error:
            raise LedgerUnavailableError(self.name, advice(error)) from error
        except ValueError as error:
            raise LedgerError(self.name, f"it cannot hold what is to be written: {error}") from error

    def _connect(self) -> sqlite3.Connection:
        if self.name != ":memory:":
            create_private(Path(self.name))
        connection = sqlite3.connect(self.name, isolation_level=None, timeout=BUSY_MS / 1000)
        try:
            write_ahead(connection, BUSY_MS / 1000)
            connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    async def _own(self, run: RunKey, owner: str) -> Lease:
        """Take the run when nobody has it, or when its owner is gone."""
        seen = await self._do(lambda db: claim(db, run, run_id_of(db, run), owner))
        if isinstance(seen, Lease):
            return seen
        last = seen
        if not await self._do(lambda _: is_gone(last.owner)):
            last = await self._outlast(run, last)
        lease = await self._do(lambda db: take_over(db, run, run_id_of(db, run), owner, last))
        if lease is None:
            raise RunOwnedError(self.name, run_name(run.thread, run.n))
        return lease

    async def _outlast(self, run: RunKey, seen: Seen) -> Seen:
        """Watch the heartbeat; return the row once it is free or has stood still for long enough."""
        until = time.monotonic() + LEASE_S
        while time.monotonic() < until:
            await asyncio.sleep(LOOK_S)
            now = await self._do(lambda db: look(db, run_id_of(db, run)))
            if now is not None and not now.owner:
                return now
            if now is None or (now.token, now.beat) != (seen.token, seen.beat):
                raise RunOwnedError(self.name, run_name(run.thread, run.n))
        return seen

    def _beats(self) -> list[Callable[[sqlite3.Connection], None]]:
        return [partial(beat, lease=lease) for lease in tuple(self._held)]

    def _open_run(self, db: sqlite3.Connection, thread: str, drafts: Sequence[Draft]) -> int:
        n = (last_number(db, thread) or 0) + 1
        db.execute("INSERT INTO ledger_runs (thread, n) VALUES (?, ?)", (thread, n))
        named = [Draft(d.kind, {**d.payload, "thread": thread, "n": n}, d.step, d.safe) for d in drafts]
        run = RunKey(thread, n)
        write_rows(db, self.name, run, run_id_of(db, run), named, ())
        return n

    def _refuse(self, db: sqlite3.Connection, lease: Lease, control_seq: int | None = None, heed: bool = False) -> None:
        """Raise where the lease or what its holder knows is outdated."""
        name = run_name(lease.run.thread, lease.run.n)
        seen = look(db, lease.run_id)
        if seen is None or seen.token != lease.token:
            raise LeaseLostError(self.name, name)
        if control_seq is not None and control_seq_of(db, lease.run_id) != control_seq:
            raise StaleRunError(self.name, name)
        if heed and db.execute("SELECT 1 FROM ledger_inbox WHERE run = ? LIMIT 1", (lease.run_id,)).fetchone():
            raise MessageWaitingError(self.name, name)

    def _checked(self, run: RunKey, rows: list[Row], written: int, after: int) -> list[Event]:
        name = run_name(run.thread, run.n)
        before = first_link(name)
        for place, row in enumerate(rows, max(after, 1)):
            if row.seq != place:
                raise LedgerCorruptError(self.name, name, place, "is missing")
            if row.seq > after and not row.is_whole(before):
                raise LedgerCorruptError(self.name, name, place, "was changed")
            before = row.link
        last = rows[-1].seq if rows else 0
        if last < max(written, after):
            raise LedgerCorruptError(self.name, name, last + 1, "is missing")
        return [_event(row) for row in rows if row.seq > after]


def _event(row: Row) -> Event:
    return Event(row.seq, row.kind, row.step, row.at, json.loads(row.payload))  # type: ignore[arg-type]
