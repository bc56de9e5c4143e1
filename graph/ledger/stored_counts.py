"""Counts over runs as every SQL driver stores them: their labels are JSON text."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from planner_executor.graph.record.counters import Counts


def stored_counts(counts: Counts) -> list[tuple[str, str, float]]:
    """Return counts over runs as they are stored: name, labels, value."""
    return [(name, _labels(labels), float(count)) for (name, labels), count in counts.items()]


def read_counts(rows: Iterable[Sequence[Any]]) -> Counts:
    """Return the counts in rows as `stored_counts` made them."""
    return Counter(
        {(name, tuple((key, label) for key, label in json.loads(labels))): value for name, labels, value in rows}
    )


_labels = lru_cache(maxsize=256)(json.dumps)
