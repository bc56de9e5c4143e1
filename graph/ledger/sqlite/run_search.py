"""Finding runs in the index: by name, and page by page."""

import sqlite3
from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Any

from planner_executor.graph.ledger.index_row import COLUMNS, SELECT, read, read_counts
from planner_executor.graph.ledger.lease import Holder
from planner_executor.graph.ledger.owner import is_gone, may_live
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.ledger.run_store import Unfinished, Waiting
from planner_executor.graph.ledger.search import (
    CANDIDATES,
    UNDER_WAY,
    UNFINISHED,
    as_shown,
    like_pattern,
    run_in,
    stored_statuses,
)
from planner_executor.graph.ledger.sqlite.queries import last_number
from planner_executor.graph.record.counters import Counters, waiting_gauges
from planner_executor.graph.record.events import StandingGiven
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.summary import PERSON, RunSummary

CHUNK = 200
"""Rows that are read at a time."""
_COLUMNS = f"thread, n, {', '.join(COLUMNS)}, owner"
_JOINED = (
    "JOIN ledger_runs ON ledger_runs.id = ledger_index.run "
    "LEFT JOIN ledger_leases ON ledger_leases.run = ledger_index.run"
)
_TABLES = {
    "ledger_index": f"ledger_index {_JOINED}",
    "ledger_tags": f"ledger_tags CROSS JOIN ledger_index ON ledger_index.run = ledger_tags.run {_JOINED}",
}
"""What a list is read from, by the table whose order it has; `CROSS JOIN` keeps SQLite from choosing another."""


def run_named(db: sqlite3.Connection, name: str) -> list[RunKey]:
    """Return the run of that id, or the latest of that thread, or of each thread whose name begins so."""
    if (run := run_in(name)) is not None and _exists(db, run):
        return [run]
    if last := last_number(db, name):
        return [RunKey(name, last)]
    if not name:
        return []
    query = "SELECT thread, max(n) FROM ledger_runs WHERE thread >= ? AND thread < ? GROUP BY thread LIMIT ?"
    return [RunKey(*row) for row in db.execute(query, (name, name + chr(0x10FFFF), CANDIDATES))]


def page(db: sqlite3.Connection, wanted: RunFilter) -> list[RunSummary]:
    """Return the runs that are wanted, the latest first."""
    return list(islice(_found(db, wanted), wanted.limit))


def summaries(db: sqlite3.Connection, runs: Sequence[RunKey]) -> list[RunSummary]:
    """Return the rows of these runs in the index."""
    rows = (db.execute(f"{SELECT} WHERE thread = ? AND n = ?", (run.thread, run.n)).fetchone() for run in runs)
    return [read(row) for row in rows if row]


def unfinished(db: sqlite3.Connection) -> list[Unfinished]:
    """Return the runs that are planned, executed or paused, the oldest first."""
    query = (
        "SELECT thread, n, seq, owner, token, beat FROM ledger_index JOIN ledger_runs ON ledger_runs.id = run "
        f"LEFT JOIN ledger_leases USING (run) WHERE status IN {UNFINISHED} ORDER BY run"
    )
    return [
        Unfinished(RunKey(thread, n), seq, Holder(owner, *beats) if owner is not None else None, is_gone(owner or ""))
        for thread, n, seq, owner, *beats in db.execute(query)
    ]


def with_approvals(db: sqlite3.Connection, limit: int, before: RunKey | None) -> list[RunKey]:
    """Return runs that have not ended and were given standing approvals of their own, the latest first."""
    behind = "AND ledger_index.run < ?" if before is not None else ""
    query = (
        "SELECT thread, n FROM ledger_index JOIN ledger_runs ON ledger_runs.id = ledger_index.run "
        f"WHERE status IN {UNDER_WAY} {behind} AND EXISTS (SELECT 1 FROM ledger_events "
        f"WHERE ledger_events.run = ledger_index.run AND kind = ?) ORDER BY ledger_index.run DESC LIMIT ?"
    )
    place = [_run_id(db, before.id)] if before is not None else []
    return [RunKey(*row) for row in db.execute(query, (*place, StandingGiven.kind, limit))]


def waiting(db: sqlite3.Connection, limit: int, after: Waiting | None) -> list[RunSummary]:
    """Return rows of runs that wait for a person, the longest wait first, after this one."""
    behind = "AND (waiting_since, thread, n) > (?, ?, ?)" if after is not None else ""
    query = f"{SELECT} WHERE waits_for = ? {behind} ORDER BY waiting_since, thread, n LIMIT ?"
    return [read(row) for row in db.execute(query, (PERSON, *(after or ()), limit))]


def due(db: sqlite3.Connection, now: float, limit: int, offset: int) -> list[RunKey]:
    """Return runs whose open request has something due at `now`, in Unix seconds, what is due longest first."""
    query = (
        "SELECT thread, n FROM ledger_index JOIN ledger_runs ON ledger_runs.id = run WHERE due_at <= ? "
        "ORDER BY due_at, run LIMIT ? OFFSET ?"
    )
    return [RunKey(*row) for row in db.execute(query, (now, limit, offset))]


def _found(db: sqlite3.Connection, wanted: RunFilter) -> Iterator[RunSummary]:
    """Yield the runs that are wanted, the latest first, as far as they are asked for.

    Those of each stored status come from the index of statuses, in order, so that no list is sorted.
    """
    stored = (None,) if wanted.status is None else stored_statuses(wanted.status)
    found = [_rows(db, wanted, status) for status in stored]
    # The shown status depends on whether an owner lives, which no index knows: a wrong row is left out at the end.
    for _, *row, owner in merge(*found, key=itemgetter(0), reverse=True):
        summary = as_shown(read(row), may_live(owner))
        if wanted.status in (None, summary.status):
            yield summary


def _rows(db: sqlite3.Connection, wanted: RunFilter, status: str | None) -> Iterator[Sequence[Any]]:
    """Yield the rows of a stored status, or of any, with the number of the run before each."""
    table = "ledger_index" if wanted.tag is None else "ledger_tags"
    conditions, values = _conditions(db, wanted, status, table)
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    query = f"SELECT {table}.run, {_COLUMNS} FROM {_TABLES[table]} {where} ORDER BY {table}.run DESC"
    rows = db.execute(query, values)
    while chunk := rows.fetchmany(min(CHUNK, wanted.limit)):
        yield from chunk


def _conditions(
    db: sqlite3.Connection, wanted: RunFilter, status: str | None, table: str
) -> tuple[list[str], list[object]]:
    parts: list[tuple[str, Sequence[object]]] = []
    if wanted.before is not None:
        parts.append((f"{table}.run < ?", [_run_id(db, wanted.before)]))
    if status is not None:
        parts.append(("status = ?", [status]))
    if wanted.tag is not None:
        parts.append(("tag = ?", [wanted.tag]))
    if wanted.since is not None:
        parts.append(("started_at >= ?", [wanted.since]))
    if wanted.text is not None:
        found = [like_pattern(wanted.text)] * 2
        parts.append(("(goal LIKE ? ESCAPE '\\' OR thread LIKE ? ESCAPE '\\')", found))
    return [condition for condition, _ in parts], [value for _, values in parts for value in values]


def _run_id(db: sqlite3.Connection, name: str) -> int:
    """Return the number of a run that a page begins behind; 0, which is behind all of them, if it is not there."""
    thread, _, number = name.rpartition(".")
    query = "SELECT id FROM ledger_runs WHERE thread = ? AND n = ?"
    row = db.execute(query, (thread, number)).fetchone()
    return int(row[0]) if row else 0


def _exists(db: sqlite3.Connection, run: RunKey) -> bool:
    query = "SELECT 1 FROM ledger_runs WHERE thread = ? AND n = ?"
    return db.execute(query, (run.thread, run.n)).fetchone() is not None


def counters(db: sqlite3.Connection, now: float) -> Counters:
    """Return the counts over all runs, and the gauges at `now`, in Unix seconds."""
    counts = "SELECT name, labels, value FROM ledger_counters"
    waits = (
        "SELECT waits_for, count(*), ? - min(waiting_since) FROM ledger_index "
        "WHERE waits_for IS NOT NULL GROUP BY waits_for"
    )
    return Counters(read_counts(db.execute(counts)), waiting_gauges(db.execute(waits, (now,))))
