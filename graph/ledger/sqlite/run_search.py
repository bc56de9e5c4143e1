"""A page of the index of runs, read in the order of an index as far as it is asked for."""

from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Any

from planner_executor.graph.ledger.index_row import COLUMNS, read
from planner_executor.graph.ledger.owner import may_live
from planner_executor.graph.ledger.search import LIVE, as_shown, stored_statuses
from planner_executor.graph.ledger.sqlite.reading_connection import ReadingConnection
from planner_executor.graph.ledger.tables.dialect import in_sqlite
from planner_executor.graph.ledger.tables.run_pages import (
    CHUNK,
    VALUES,
    conditions,
    order_of,
    place_condition,
    place_of,
)
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_status import STATUSES
from planner_executor.graph.record.summary import RunSummary

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
_HAS_TAG = "EXISTS (SELECT 1 FROM ledger_tags WHERE ledger_tags.run = ledger_index.run AND tag = %s)"


def page(db: ReadingConnection, wanted: RunFilter) -> list[RunSummary]:
    """Return the runs that are wanted, the latest first."""
    return list(islice(_found(db, wanted), wanted.limit))


def _found(db: ReadingConnection, wanted: RunFilter) -> Iterator[RunSummary]:
    """Yield the runs that are wanted, the latest first, as far as they are asked for.

    Those of each stored status come from the index of statuses, in order, so that no list is sorted.
    """
    every = (None,) if wanted.order == "latest" else STATUSES
    stored, before = stored_statuses(wanted.statuses) or every, place_of(db, wanted)
    found = [_rows(db, wanted, status, before) for status in stored]
    # The shown status depends on whether an owner lives, which no index knows: a wrong row is left out at the end.
    for _, _, *row, owner in merge(*found, key=itemgetter(0, 1), reverse=True):
        summary = as_shown(read(row), may_live(owner))
        if wanted.has(summary.status):
            yield summary


def _rows(db: ReadingConnection, wanted: RunFilter, status: str | None, before: int | None) -> Iterator[Sequence[Any]]:
    """Yield the rows of a stored status, or of any, each behind its value in the order and its number."""
    table = "ledger_tags" if wanted.tag is not None and wanted.order == "latest" else "ledger_index"
    parts = [*place_condition(wanted, before, f"{table}.run"), *conditions(wanted)]
    if status is not None:
        # SQLite takes the index of ended runs by how long they took only if its condition stands in the query.
        is_taken_from_index = wanted.order == "duration" and status not in LIVE
        parts.append((f"status = %s{f' AND status NOT IN {LIVE}' * is_taken_from_index}", [status]))
    if wanted.tag is not None:
        parts.append(("tag = %s" if table == "ledger_tags" else _HAS_TAG, [wanted.tag]))
    where = f"WHERE {' AND '.join(condition for condition, _ in parts)}" if parts else ""
    value, order = VALUES.get(wanted.order, "0"), order_of(wanted, f"{table}.run")
    query = f"SELECT {value}, {table}.run, {_COLUMNS} FROM {_TABLES[table]} {where} ORDER BY {order}"
    rows = db.execute(in_sqlite(query), [value for _, values in parts for value in values])
    while chunk := rows.fetchmany(min(CHUNK, wanted.limit)):
        yield from chunk
