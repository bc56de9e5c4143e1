"""Finding runs in the index: by name, and page by page."""

from collections.abc import Iterator, Sequence
from typing import Any

from planner_executor.graph.ledger.index_row import COLUMNS, SELECT, read, read_counts
from planner_executor.graph.ledger.lease import Holder
from planner_executor.graph.ledger.owner import is_gone, may_live
from planner_executor.graph.ledger.postgres.queries import last_number
from planner_executor.graph.ledger.postgres.transaction import Rows, Transaction
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
from planner_executor.graph.record.counters import Counters, waiting_gauges
from planner_executor.graph.record.events import StandingGiven
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.summary import PERSON, RunSummary

CHUNK = 200
"""Rows that are read at a time."""
_SELECT = f"""SELECT thread, n, {", ".join(COLUMNS)},
    CASE WHEN beat_at >= clock_timestamp() - make_interval(secs => %s) THEN owner END, run
    FROM ledger_index JOIN ledger_runs ON ledger_runs.id = run LEFT JOIN ledger_leases USING (run)"""


def run_named(tx: Transaction, name: str) -> list[RunKey]:
    """Return the run of that id, or the latest of that thread, or of each thread whose name begins so."""
    if (run := run_in(name)) is not None and _run_id(tx, run):
        return [run]
    if last := last_number(tx, name):
        return [RunKey(name, last)]
    if not name:
        return []
    query = (
        "SELECT thread, max(n) FROM ledger_runs WHERE thread >= %s AND thread < %s "
        "GROUP BY thread ORDER BY thread LIMIT %s"
    )
    return [RunKey(*row) for row in tx.ask(query, name, name + chr(0x10FFFF), CANDIDATES)]


def page(tx: Transaction, wanted: RunFilter, silent_s: float) -> list[RunSummary]:
    """Return the runs that are wanted, the latest first; an owner silent for more than `silent_s` seconds is dead."""
    found: list[RunSummary] = []
    before, chunk = _place(tx, wanted), min(CHUNK, wanted.limit)
    while chunk and len(found) < wanted.limit:
        rows = _rows(tx, wanted, before, chunk, silent_s)
        found += (shown for shown in map(_shown, rows) if wanted.status in (None, shown.status))
        if len(rows) < chunk:
            break
        before = rows[-1][-1]
    return found[: wanted.limit]


def summaries(tx: Transaction, runs: Sequence[RunKey]) -> list[RunSummary]:
    """Return the rows of these runs in the index."""
    query = f"{SELECT} WHERE (thread, n) IN (SELECT * FROM unnest(%s::text[], %s::bigint[]))"
    return [read(row) for row in tx.ask(query, [run.thread for run in runs], [run.n for run in runs])]


def unfinished(tx: Transaction, silent_s: float) -> list[Unfinished]:
    """Return the runs that are planned, executed or paused, the oldest first; for `silent_s` see `page`."""
    query = (
        "SELECT thread, n, seq, beat_at < clock_timestamp() - make_interval(secs => %s), owner, token, beat "
        "FROM ledger_index JOIN ledger_runs ON ledger_runs.id = run LEFT JOIN ledger_leases USING (run) "
        f"WHERE status IN {UNFINISHED} ORDER BY run"
    )
    return [
        Unfinished(
            RunKey(thread, n),
            seq,
            Holder(owner, *beats) if owner is not None else None,
            bool(owner) and (is_silent or is_gone(owner)),
        )
        for thread, n, seq, is_silent, owner, *beats in tx.ask(query, silent_s)
    ]


def with_approvals(tx: Transaction, limit: int, before: RunKey | None) -> list[RunKey]:
    """Return runs that have not ended and were given standing approvals of their own, the latest first."""
    behind = "AND run < %s" if before is not None else ""
    query = (
        "SELECT thread, n FROM ledger_index JOIN ledger_runs ON ledger_runs.id = run "
        f"WHERE status IN {UNDER_WAY} {behind} AND EXISTS (SELECT FROM ledger_events "
        "WHERE ledger_events.run = ledger_index.run AND kind = %s) ORDER BY run DESC LIMIT %s"
    )
    place = [_run_id(tx, before)] if before is not None else []
    return [RunKey(*row) for row in tx.ask(query, *place, StandingGiven.kind, limit)]


def waiting(tx: Transaction, limit: int, after: Waiting | None) -> list[RunSummary]:
    """Return rows of runs that wait for a person, the longest wait first, after this one."""
    behind = "AND (waiting_since, thread, n) > (%s, %s, %s)" if after is not None else ""
    query = f"{SELECT} WHERE waits_for = %s {behind} ORDER BY waiting_since, thread, n LIMIT %s"
    return [read(row) for row in tx.ask(query, PERSON, *(after or ()), limit)]


def due(tx: Transaction, limit: int, offset: int) -> list[RunKey]:
    """Return runs whose open request has something due by the server's clock, what is due longest first."""
    query = (
        "SELECT thread, n FROM ledger_index JOIN ledger_runs ON ledger_runs.id = run "
        "WHERE due_at <= extract(epoch FROM clock_timestamp())::float8 ORDER BY due_at, run LIMIT %s OFFSET %s"
    )
    return [RunKey(*row) for row in tx.ask(query, limit, offset)]


def _rows(tx: Transaction, wanted: RunFilter, before: int | None, limit: int, silent_s: float) -> Rows:
    parts = list(_conditions(wanted, before))
    where = f"WHERE {' AND '.join(condition for condition, _ in parts)}" if parts else ""
    values = [value for _, values in parts for value in values]
    return tx.ask(f"{_SELECT} {where} ORDER BY run DESC LIMIT %s", silent_s, *values, limit)


def _shown(row: Sequence[Any]) -> RunSummary:
    *summary, owner, _ = row
    return as_shown(read(summary), may_live(owner))


def _conditions(wanted: RunFilter, before: int | None) -> Iterator[tuple[str, Sequence[object]]]:
    if before is not None:
        yield "run < %s", [before]
    if wanted.status is not None:
        yield "status = ANY(%s)", [[*stored_statuses(wanted.status)]]
    if wanted.tag is not None:
        yield "run IN (SELECT run FROM ledger_tags WHERE tag = %s)", [wanted.tag]
    if wanted.since is not None:
        yield "started_at >= %s", [wanted.since]
    if wanted.text is not None:
        yield "(goal ILIKE %s OR thread ILIKE %s)", [like_pattern(wanted.text)] * 2


def _place(tx: Transaction, wanted: RunFilter) -> int | None:
    """Return the number of the run that a page begins behind; 0, which is behind all of them, if it is not there."""
    if wanted.before is None:
        return None
    run = run_in(wanted.before)
    return _run_id(tx, run) if run is not None else 0


def _run_id(tx: Transaction, run: RunKey) -> int:
    row = tx.one("SELECT id FROM ledger_runs WHERE thread = %s AND n = %s", run.thread, run.n)
    return int(row[0]) if row else 0


def counters(tx: Transaction) -> Counters:
    """Return the counts over all runs, and the gauges by the server's clock."""
    counts = "SELECT name, labels, sum(value) FROM ledger_counters GROUP BY name, labels ORDER BY name, labels"
    waits = (
        "SELECT waits_for, count(*), extract(epoch FROM now())::float8 - min(waiting_since) FROM ledger_index "
        "WHERE waits_for IS NOT NULL GROUP BY waits_for"
    )
    return Counters(read_counts(tx.ask(counts)), waiting_gauges(tx.ask(waits)))
