"""The index of runs as every SQL driver stores it: lists, the open review and labels of counts are JSON text."""

import json
from collections.abc import Sequence
from functools import lru_cache

from graph.record.counters import Counts
from graph.record.open_review import OpenReview
from graph.record.summary import RunSummary

COLUMNS = RunSummary._fields[2:]
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


def stored(summary: RunSummary, names: Sequence[str] = COLUMNS) -> list[object]:
    """Return the columns of these names as they are stored."""
    return [_cell(name, getattr(summary, name)) for name in names]


def changed(before: RunSummary, after: RunSummary) -> list[str]:
    """Return the names of the columns that differ."""
    pairs = zip(RunSummary._fields, before, after, strict=True)
    return sorted(name for name, old, new in pairs if new != old)


def stored_counts(counts: Counts) -> list[tuple[str, str, float]]:
    """Return counts over runs as they are stored: name, labels, value."""
    return [(name, _labels(labels), float(count)) for (name, labels), count in counts.items()]


_labels = lru_cache(maxsize=256)(json.dumps)


def _cell(name: str, value: object) -> object:
    if isinstance(value, OpenReview):
        return value.to_text()
    return json.dumps(value, ensure_ascii=False) if name in _LISTS else value
