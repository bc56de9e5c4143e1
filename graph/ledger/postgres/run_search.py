"""A page of the index of runs, with as few round trips as it needs."""

from collections.abc import Iterator, Sequence
from typing import Any

from planner_executor.graph.ledger.index_row import COLUMNS, read
from planner_executor.graph.ledger.owner import may_live
from planner_executor.graph.ledger.search import as_shown, stored_statuses
from planner_executor.graph.ledger.tables.reader import Rows
from planner_executor.graph.ledger.tables.run_pages import CHUNK, conditions, order_of, place_condition, place_of
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.summary import RunSummary

_SELECT = f"""SELECT thread, n, {", ".join(COLUMNS)},
    CASE WHEN beat_at >= clock_timestamp() - make_interval(secs => %s) THEN owner END, run
    FROM ledger_index JOIN ledger_runs ON ledger_runs.id = run LEFT JOIN ledger_leases USING (run)"""


def page(tx: Transaction, wanted: RunFilter, silent_s: float) -> list[RunSummary]:
    """Return the runs that are wanted, the latest first; an owner silent for more than `silent_s` seconds is dead."""
    found: list[RunSummary] = []
    before, chunk = place_of(tx, wanted), min(CHUNK, wanted.limit)
    while chunk and len(found) < wanted.limit:
        rows = _rows(tx, wanted, before, chunk, silent_s)
        found += (shown for shown in map(_shown, rows) if wanted.has(shown.status))
        if len(rows) < chunk:
            break
        before = rows[-1][-1]
    return found[: wanted.limit]


def _rows(tx: Transaction, wanted: RunFilter, before: int | None, limit: int, silent_s: float) -> Rows:
    parts = [*place_condition(wanted, before, "run"), *conditions(wanted), *_conditions(wanted)]
    where = f"WHERE {' AND '.join(condition for condition, _ in parts)}" if parts else ""
    values = [value for _, values in parts for value in values]
    return tx.ask(f"{_SELECT} {where} ORDER BY {order_of(wanted, 'run')} LIMIT %s", silent_s, *values, limit)


def _shown(row: Sequence[Any]) -> RunSummary:
    *summary, owner, _ = row
    return as_shown(read(summary), may_live(owner))


def _conditions(wanted: RunFilter) -> Iterator[tuple[str, Sequence[object]]]:
    if wanted.statuses:
        yield "status = ANY(%s)", [[*stored_statuses(wanted.statuses)]]
    if wanted.tag is not None:
        yield "run IN (SELECT run FROM ledger_tags WHERE tag = %s)", [wanted.tag]
