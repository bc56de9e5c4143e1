"""The index of runs as every SQL driver stores it: lists and the open review are JSON text."""

import json
from collections.abc import Sequence

from planner_executor.graph.record.open_review import OpenReview
from planner_executor.graph.record.summary import RunSummary

COLUMNS = RunSummary._fields[2:]
SORT_KEYS = ("until", "amount", "told")
"""Columns that follow from the others, by which open requests are put in order and found; null if none is open."""
WRITTEN = (*COLUMNS, *SORT_KEYS)
SELECT = (
    f"SELECT thread, n, {', '.join(COLUMNS)} FROM ledger_index JOIN ledger_runs ON ledger_runs.id = ledger_index.run"
)
_LISTS = ("asks", "people", "tags")


def read(row: Sequence[object]) -> RunSummary:
    """Return the summary in a row that `SELECT` gave."""
    values = dict(zip(("thread", "n", *COLUMNS), row, strict=False))
    lists = {name: tuple(json.loads(str(values[name]))) for name in _LISTS}
    review = OpenReview.from_text(str(values["review"])) if values["review"] is not None else None
    return RunSummary(**{**values, **lists, "review": review})  # type: ignore[arg-type]


def stored(summary: RunSummary, names: Sequence[str] = WRITTEN) -> list[object]:
    """Return the columns of these names as they are stored."""
    return [
        None if name in SORT_KEYS and summary.review is None else _cell(name, getattr(summary, name)) for name in names
    ]


def changed(before: RunSummary, after: RunSummary) -> list[str]:
    """Return the names of the columns that differ."""
    pairs = zip(RunSummary._fields, before, after, strict=True)
    names = sorted(name for name, old, new in pairs if new != old)
    return names if before.review is after.review is None else [*names, *SORT_KEYS]


def _cell(name: str, value: object) -> object:
    if isinstance(value, OpenReview):
        return value.to_text()
    return json.dumps(value, ensure_ascii=False) if name in _LISTS else value
