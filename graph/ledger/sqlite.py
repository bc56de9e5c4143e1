"""The ledger in an SQLite file, or in memory."""

import asyncio
import json
import os
import secrets
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
from graph.ledger.chain import SALT_BYTES, Row, first_link, link, payload_digest
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
from graph.ledger.lease import SCHEMA as LEASES
from graph.ledger.protocol import Health, Lease, Message, RunKey
from graph.ledger.writer import WriterThread
from graph.run.events import CONTROL, Draft, Event
from graph.run.record import run_name
from graph.run.values import Kept

Result = TypeVar("Result")

BUSY_MS = 5_000

SCHEMA = f"""
CREATE TABLE IF NOT EXISTS ledger_runs (
    id INTEGER PRIMARY KEY,
    thread TEXT NOT NULL,
    n INTEGER NOT NULL,
    events INTEGER NOT NULL DEFAULT 0,
    UNIQUE (thread, n)
);
CREATE TABLE IF NOT EXISTS ledger_events (
    run INTEGER NOT NULL REFERENCES ledger_runs (id),
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    step TEXT,
    at REAL NOT NULL,
    payload TEXT NOT NULL,
    salt BLOB NOT NULL,
    digest BLOB NOT NULL,
    link BLOB NOT NULL,
    PRIMARY KEY (run, seq)
);
CREATE INDEX IF NOT EXISTS ledger_control ON ledger_events (run, seq) WHERE kind IN {CONTROL};
CREATE TABLE IF NOT EXISTS ledger_artifacts (
    id TEXT PRIMARY KEY,
    content TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS ledger_inbox (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES ledger_runs (id),
    message TEXT NOT NULL
);
{LEASES}"""


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
        owner = new_owner()
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
            return self._write(db, lease.run, lease.run_id, drafts, artifacts)

        return await self._do(write, full=full)

    async def post(self, run: RunKey, message: Message) -> None:
        """Leave a message for whoever works on the run next, or now."""
        query = "INSERT INTO ledger_inbox (run, message) VALUES (?, ?)"
        await self._do(lambda db: db.execute(query, (_run_id(db, run), message)), full=True)

    async def take_messages(self, lease: Lease) -> list[Message]:
        """Return the messages for a run, in order, and empty its inbox."""
        query = "DELETE FROM ledger_inbox WHERE run = ? RETURNING id, message"

        def take(db: sqlite3.Connection) -> list[tuple[int, Message]]:
            self._refuse(db, lease)
            return db.execute(query, (lease.run_id,)).fetchall()

        return [message for _, message in sorted(await self._do(take))]

    async def is_worked_on(self, run: RunKey) -> bool:
        """Whether somebody owns the run whose process is not known to be gone."""
        seen = await self._do(lambda db: look(db, _run_id(db, run)))
        return seen is not None and bool(seen.owner) and not is_gone(seen.owner)

    async def events(self, run: RunKey) -> list[Event]:
        """Return a run's events in order, their chain checked."""
        rows, written = await self._do(partial(_rows, run=run))
        return self._checked(run, rows, written)

    async def last_run(self, thread: str) -> RunKey | None:
        """Return the thread's latest run, or None."""
        n = await self._do(partial(_last_number, thread=thread))
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
            raise LedgerUnavailableError(self.name, _advice(error)) from error
        except ValueError as error:
            raise LedgerError(self.name, f"it cannot hold what is to be written: {error}") from error

    def _connect(self) -> sqlite3.Connection:
        if self.name != ":memory:":
            create_private(Path(self.name))
        connection = sqlite3.connect(self.name, isolation_level=None, timeout=BUSY_MS / 1000)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    async def _own(self, run: RunKey, owner: str) -> Lease:
        """Take the run when nobody has it, or when its owner is gone."""
        seen = await self._do(lambda db: claim(db, run, _run_id(db, run), owner))
        if isinstance(seen, Lease):
            return seen
        if not is_gone(seen.owner):
            seen = await self._outlast(run, seen)
        last = seen
        lease = await self._do(lambda db: take_over(db, run, _run_id(db, run), owner, last))
        if lease is None:
            raise RunOwnedError(self.name, run_name(run.thread, run.n))
        return lease

    async def _outlast(self, run: RunKey, seen: Seen) -> Seen:
        """Watch the heartbeat; return the row once it is free or has stood still for long enough."""
        until = time.monotonic() + LEASE_S
        while time.monotonic() < until:
            await asyncio.sleep(LOOK_S)
            now = await self._do(lambda db: look(db, _run_id(db, run)))
            if now is not None and not now.owner:
                return now
            if now is None or (now.token, now.beat) != (seen.token, seen.beat):
                raise RunOwnedError(self.name, run_name(run.thread, run.n))
        return seen

    def _beats(self) -> list[Callable[[sqlite3.Connection], None]]:
        return [partial(beat, lease=lease) for lease in tuple(self._held)]

    def _open_run(self, db: sqlite3.Connection, thread: str, drafts: Sequence[Draft]) -> int:
        n = (_last_number(db, thread) or 0) + 1
        db.execute("INSERT INTO ledger_runs (thread, n) VALUES (?, ?)", (thread, n))
        named = [Draft(d.kind, {**d.payload, "thread": thread, "n": n}, d.step, d.safe) for d in drafts]
        run = RunKey(thread, n)
        self._write(db, run, _run_id(db, run), named, ())
        return n

    def _refuse(self, db: sqlite3.Connection, lease: Lease, control_seq: int | None = None, heed: bool = False) -> None:
        """Raise where the lease or what its holder knows is outdated."""
        name = run_name(lease.run.thread, lease.run.n)
        seen = look(db, lease.run_id)
        if seen is None or seen.token != lease.token:
            raise LeaseLostError(self.name, name)
        if control_seq is not None and _control_seq(db, lease.run_id) != control_seq:
            raise StaleRunError(self.name, name)
        if heed and db.execute("SELECT 1 FROM ledger_inbox WHERE run = ? LIMIT 1", (lease.run_id,)).fetchone():
            raise MessageWaitingError(self.name, name)

    def _write(
        self, db: sqlite3.Connection, run: RunKey, run_id: int, drafts: Sequence[Draft], artifacts: Sequence[Kept]
    ) -> int:
        seq, before = _head(db, run_id, run)
        if seq < _written(db, run_id):  # another event in its place would hide the loss
            raise LedgerCorruptError(self.name, run_name(run.thread, run.n), seq + 1, "is missing")
        rows = []
        for draft in drafts:
            seq += 1
            row = _row(draft, seq, before)
            before = row.link
            rows.append((run_id, seq, row.kind, row.step, row.at, row.payload, row.salt, row.digest, before))
        db.executemany("INSERT INTO ledger_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        db.execute("UPDATE ledger_runs SET events = ? WHERE id = ?", (seq, run_id))
        kept = [(value.artifact.id, value.text) for value in artifacts if value.artifact]
        db.executemany("INSERT OR IGNORE INTO ledger_artifacts VALUES (?, ?)", kept)
        return seq

    def _checked(self, run: RunKey, rows: list[Row], written: int) -> list[Event]:
        name = run_name(run.thread, run.n)
        before = first_link(name)
        for place, row in enumerate(rows, 1):
            if row.seq != place:
                raise LedgerCorruptError(self.name, name, place, "is missing")
            if not row.is_whole(before):
                raise LedgerCorruptError(self.name, name, place, "was changed")
            before = row.link
        if len(rows) < written:
            raise LedgerCorruptError(self.name, name, len(rows) + 1, "is missing")
        return [Event(row.seq, row.kind, row.step, row.at, json.loads(row.payload)) for row in rows]  # type: ignore[arg-type]


def create_private(path: Path) -> None:
    """Create a database file that only its owner can read; SQLite gives its side files the same mode.

    A file that is there is not touched: closing it would drop the locks that this process's connections hold on it,
    and another process would take the write-ahead log away from under them.

    Raises:
        LedgerUnavailableError: The folder is missing or not writable.
    """
    if path.is_file():
        return
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise LedgerUnavailableError(
            str(path), f"{error.strerror}; name a file in a folder you can write to"
        ) from error


def _row(draft: Draft, seq: int, before: bytes) -> Row:
    payload = json.dumps(draft.payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    salt, at = secrets.token_bytes(SALT_BYTES), time.time()
    digest = payload_digest(salt, payload)
    return Row(
        seq, draft.kind, draft.step, at, payload, salt, digest, link(before, seq, draft.kind, draft.step, at, digest)
    )


def _run_id(db: sqlite3.Connection, run: RunKey) -> int:
    row = db.execute("SELECT id FROM ledger_runs WHERE thread = ? AND n = ?", (run.thread, run.n)).fetchone()
    if row is None:
        raise sqlite3.DatabaseError(f"run {run_name(run.thread, run.n)} is not in the ledger")
    return int(row[0])


def _last_number(db: sqlite3.Connection, thread: str) -> int | None:
    row = db.execute("SELECT max(n) FROM ledger_runs WHERE thread = ?", (thread,)).fetchone()
    return int(row[0]) if row[0] is not None else None


def _control_seq(db: sqlite3.Connection, run_id: int) -> int:
    query = f"SELECT max(seq) FROM ledger_events WHERE run = ? AND kind IN {CONTROL}"
    return int(db.execute(query, (run_id,)).fetchone()[0] or 0)


def _head(db: sqlite3.Connection, run_id: int, run: RunKey) -> tuple[int, bytes]:
    query = "SELECT seq, link FROM ledger_events WHERE run = ? ORDER BY seq DESC LIMIT 1"
    row = db.execute(query, (run_id,)).fetchone()
    return (int(row[0]), bytes(row[1])) if row else (0, first_link(run_name(run.thread, run.n)))


def _rows(db: sqlite3.Connection, run: RunKey) -> tuple[list[Row], int]:
    """Return a run's rows and how many were written: fewer are a fault of the file, not a shorter run."""
    query = "SELECT seq, kind, step, at, payload, salt, digest, link FROM ledger_events WHERE run = ? ORDER BY seq"
    run_id = _run_id(db, run)
    return [Row(*columns) for columns in db.execute(query, (run_id,))], _written(db, run_id)


def _written(db: sqlite3.Connection, run_id: int) -> int:
    return int(db.execute("SELECT events FROM ledger_runs WHERE id = ?", (run_id,)).fetchone()[0])


def _advice(error: sqlite3.Error) -> str:
    text = str(error)
    if "locked" in text:
        return f"{text}; another process holds it, try again when it is done"
    if "readonly" in text:
        return f"{text}; give yourself write access to the file and its folder"
    if "full" in text:
        return f"{text}; free some space and resume the run"
    return text
