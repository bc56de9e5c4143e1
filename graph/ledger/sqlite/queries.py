"""Questions asked of the ledger's tables within a transaction."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from planner_executor.graph.ledger.chain import Row, first_link
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.ledger.reading import Snapshot
from planner_executor.graph.ledger.refusals import Standing
from planner_executor.graph.ledger.sqlite.lease import holder_of
from planner_executor.graph.ledger.sqlite.packed_payload import UNPACKED, payload_text, stored_payload
from planner_executor.graph.ledger.tombstone import thread_digest
from planner_executor.graph.ledger.transcript import Transcript, artifact_ids, source_in
from planner_executor.graph.record.events import CONTROL, CallFinished, CallStarted, RunForked

_ENDED = UNPACKED.format("ended.payload")
FAILED = f"""(SELECT ended.kind != '{CallFinished.kind}' OR json_extract({_ENDED}, '$.status') != 'succeeded'
    FROM ledger_events AS ended
    WHERE ended.run = e.run AND ended.seq > e.seq AND ended.kind IN ('{CallStarted.kind}', '{CallFinished.kind}')
    AND ended.step IS e.step AND json_extract({_ENDED}, '$.call') = json_extract(e.payload, '$.call')
    AND json_extract({_ENDED}, '$.item') IS json_extract(e.payload, '$.item')
    ORDER BY ended.seq LIMIT 1)"""
"""For a call's start: whether the call failed; null if it has no outcome."""

_HEAD = f"""SELECT runs.events, runs.key, runs.seal, last.seq, last.link, owner, token, beat,
    EXISTS (SELECT 1 FROM ledger_inbox WHERE ledger_inbox.run = runs.id),
    (SELECT max(seq) FROM ledger_events WHERE run = runs.id AND kind IN {CONTROL})
    FROM ledger_runs AS runs LEFT JOIN ledger_leases ON ledger_leases.run = runs.id
    LEFT JOIN ledger_events AS last ON last.run = runs.id
    AND last.seq = (SELECT seq FROM ledger_events WHERE run = runs.id ORDER BY seq DESC LIMIT 1)
    WHERE runs.id = ?"""

ALL = -(2**63)
"""Sequence number below every stored one, to select all rows, also damaged ones."""


def run_id_of(db: sqlite3.Connection, run: RunKey) -> int:
    """Return the number by which the tables know a run."""
    row = db.execute("SELECT id FROM ledger_runs WHERE thread = ? AND n = ?", (run.thread, run.n)).fetchone()
    if row is None:
        raise sqlite3.DatabaseError(f"run {run.id} is not in the ledger")
    return int(row[0])


def last_number(db: sqlite3.Connection, thread: str) -> int | None:
    """Return the number of the thread's latest run, or None."""
    row = db.execute("SELECT max(n) FROM ledger_runs WHERE thread = ?", (thread,)).fetchone()
    return int(row[0]) if row[0] is not None else None


def numbers_of(db: sqlite3.Connection, thread: str) -> list[int]:
    """Return the numbers of the thread's runs, in order."""
    return [n for (n,) in db.execute("SELECT n FROM ledger_runs WHERE thread = ? ORDER BY n", (thread,))]


def next_number(db: sqlite3.Connection, thread: str) -> int:
    """Return the number of the thread's next run; those of removed runs are not given again."""
    query = """SELECT max(coalesce((SELECT max(n) FROM ledger_runs WHERE thread = ?), 0),
        coalesce((SELECT max(last) FROM ledger_tombstones WHERE thread = ?), 0))"""
    return int(db.execute(query, (thread, thread_digest(thread))).fetchone()[0]) + 1


def next_row(db: sqlite3.Connection) -> int:
    """Return the number by which the tables will know the next run; an outdated lease must not fit another run."""
    query = """SELECT max(coalesce((SELECT max(id) FROM ledger_runs), 0),
        coalesce((SELECT top FROM ledger_tombstones ORDER BY number DESC LIMIT 1), 0))"""
    return int(db.execute(query).fetchone()[0]) + 1


def head_of(db: sqlite3.Connection, run: RunKey, run_id: int) -> Head:
    """Return a run, with one statement: it is looked at before each event.

    Raises:
        sqlite3.DatabaseError: Its row, its lease or the number of its last event is damaged.
    """
    row = db.execute(_HEAD, (run_id,)).fetchone()
    standing = _standing(row and row[:3])
    seq, link, owner, token, beat, has_messages, control_seq = row[3:]
    holder = holder_of((owner, token, beat)) if owner is not None else None
    if seq is None:
        return Head(run, run_id, standing, 0, first_link(run.id), holder, bool(has_messages), 0)
    return Head(run, run_id, standing, int(seq), bytes(link), holder, bool(has_messages), int(control_seq or 0))


def rows_of(db: sqlite3.Connection, run_id: int, after: int) -> tuple[list[Row], Standing]:
    """Return a run's rows from the `after`-th on, and how many were written: fewer are a fault, not a shorter run."""
    return list(read_rows(db, run_id, after)), standing_of(db, run_id)


def read_rows(db: sqlite3.Connection, run_id: int, after: int = ALL) -> Iterator[Row]:
    """Yield a run's rows from the `after`-th on, their payloads as text."""
    query = (
        "SELECT seq, kind, step, at, payload, salt, digest, link FROM ledger_events "
        "WHERE run = ? AND seq >= ? ORDER BY seq"
    )
    for row in map(Row._make, db.execute(query, (run_id, after))):
        yield row if type(row.payload) is str else row._replace(payload=payload_text(row.kind, row.payload))


def stored_row(row: Row) -> Sequence[Any]:
    """Return the columns of a row as they are stored."""
    return (*row[:4], stored_payload(row.kind, row.payload), *row[5:])


def has_messages(db: sqlite3.Connection, run_id: int) -> bool:
    """Whether a message waits in a run's inbox."""
    query = "SELECT 1 FROM ledger_inbox WHERE run = ? LIMIT 1"
    return db.execute(query, (run_id,)).fetchone() is not None


def found_of(db: sqlite3.Connection, run_id: int, after: int) -> Snapshot:
    """Return a run from its `after`-th event on."""
    return Snapshot(*rows_of(db, run_id, after), has_messages(db, run_id))


def standing_of(db: sqlite3.Connection, run_id: int) -> Standing:
    """Return how many events were written for a run, and its seal.

    Raises:
        sqlite3.DatabaseError: The row is damaged.
    """
    return _standing(db.execute("SELECT events, key, seal FROM ledger_runs WHERE id = ?", (run_id,)).fetchone())


def _standing(row: Sequence[Any] | None) -> Standing:
    if row is None or type(row[0]) is not int:
        raise sqlite3.DatabaseError("the list of runs was changed")
    return Standing._make(row)


def transcript_of(db: sqlite3.Connection, run: RunKey) -> Transcript:
    """Return everything that is stored of a run."""
    rows, (written, key, seal) = rows_of(db, run_id_of(db, run), after=ALL)
    bare = Transcript(run.thread, run.n, rows, written, key, seal)
    found = (
        db.execute("SELECT id, content FROM ledger_artifacts WHERE id = ?", (name,)).fetchone()
        for name in artifact_ids(bare.events())
    )
    return replace(bare, artifacts=dict(row for row in found if row is not None))


def forks_of(db: sqlite3.Connection) -> list[tuple[RunKey, str]]:
    """Return the runs that are forks, each with the name of the run that it is a fork of."""
    query = (
        "SELECT thread, n, payload FROM ledger_events JOIN ledger_runs ON ledger_runs.id = run "
        f"WHERE kind = '{RunForked.kind}' ORDER BY run"
    )
    found = db.execute(query).fetchall()
    return [(RunKey(thread, n), source_in(payload_text(RunForked.kind, stored))) for thread, n, stored in found]
