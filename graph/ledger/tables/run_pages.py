"""Pages of the index of runs: where they begin, what is on them, and in which order."""

from collections.abc import Iterator, Mapping, Sequence

from planner_executor.graph.ledger.search import TOOK, like_pattern
from planner_executor.graph.ledger.tables.dialect import either
from planner_executor.graph.ledger.tables.reader import Reader
from planner_executor.graph.ledger.tables.run_names import id_of
from planner_executor.graph.record.run_filter import RunFilter, RunOrder
from planner_executor.graph.record.run_key import run_in

CHUNK = 200
"""Rows of a list that are read at a time."""
_HOLDS = either("(goal LIKE %s ESCAPE '\\' OR thread LIKE %s ESCAPE '\\')", "(goal ILIKE %s OR thread ILIKE %s)")
_BY = either("started_by LIKE %s ESCAPE '\\'", "started_by ILIKE %s")
VALUES: Mapping[RunOrder, str] = {
    "cost": "cost_usd",
    "duration": TOOK,
}
"""By what a page is ordered, the highest first, that does not have the latest first."""


def place_of(tx: Reader, wanted: RunFilter) -> int | None:
    """Return the number of the run that a page begins behind; 0, which is behind all of them, if it is not there."""
    if wanted.before is None:
        return None
    run = run_in(wanted.before)
    return (id_of(tx, run) or 0) if run is not None else 0


def place_condition(wanted: RunFilter, before: int | None, run: str) -> Iterator[tuple[str, Sequence[object]]]:
    """Yield the condition for a page behind a run's number, and its values; `run` is the column of the numbers."""
    if before is None:
        return
    if (value := VALUES.get(wanted.order)) is None:
        yield f"{run} < %s", [before]
    else:
        its = f"(SELECT {value} FROM ledger_index WHERE run = %s)"
        yield f"{value} <= {its} AND ({value}, {run}) < ({its}, %s)", [before] * 3  # an index finds the first alone


def order_of(wanted: RunFilter, run: str) -> str:
    """Return how a page is ordered; `run` is the column of the numbers."""
    value = VALUES.get(wanted.order)
    return f"{run} DESC" if value is None else f"{value} DESC, {run} DESC"


def conditions(wanted: RunFilter) -> Iterator[tuple[str, Sequence[object]]]:
    """Yield conditions for a page, and their values."""
    if wanted.since is not None:
        yield "started_at >= %s", [wanted.since]
    if wanted.text is not None:
        yield _HOLDS, [like_pattern(wanted.text)] * 2
    if wanted.by is not None:
        yield _BY, [like_pattern(wanted.by)]
