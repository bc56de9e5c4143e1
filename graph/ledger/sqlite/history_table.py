"""The table of what steps took in an SQLite file: a row for each likeness, with its latest samples."""

import json
import sqlite3
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from planner_executor.graph.record.sample import KEPT, Sample, Samples


def add_samples(db: sqlite3.Connection, samples: Samples) -> None:
    """Add the samples of a run that has ended, in its transaction."""
    for likeness, found in samples.items():
        kept = [*(sample.to_json() for sample in found), *_stored(db, likeness)]
        kept.sort(key=itemgetter(0), reverse=True)
        stored = json.dumps(kept[:KEPT], separators=(",", ":"))
        db.execute("INSERT OR REPLACE INTO ledger_history VALUES (?, ?)", (likeness, stored))


def history(db: sqlite3.Connection, likenesses: Sequence[str]) -> dict[str, list[Sample]]:
    """Return the samples of these likenesses, the latest first; those without any are left out."""
    found = {likeness: _stored(db, likeness) for likeness in likenesses}
    return {likeness: list(map(Sample.from_json, samples)) for likeness, samples in found.items() if samples}


def _stored(db: sqlite3.Connection, likeness: str) -> list[Any]:
    row = db.execute("SELECT samples FROM ledger_history WHERE likeness = ?", (likeness,)).fetchone()
    samples: list[Any] = json.loads(row[0]) if row is not None else []
    return samples
