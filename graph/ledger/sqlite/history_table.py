"""The table of what steps took in an SQLite file: a row for each likeness, with its latest samples."""

import json
import sqlite3
from collections.abc import Sequence

from graph.record.sample import Sample, Samples, latest

TABLES = """
CREATE TABLE ledger_history (
    likeness TEXT PRIMARY KEY,
    samples TEXT NOT NULL
) WITHOUT ROWID;
"""


def add_samples(db: sqlite3.Connection, samples: Samples) -> None:
    """Add the samples of a run that has ended, in its transaction."""
    for likeness, found in samples.items():
        kept = latest([*found, *history(db, [likeness]).get(likeness, ())])
        stored = json.dumps([sample.to_text() for sample in kept])
        db.execute("INSERT OR REPLACE INTO ledger_history VALUES (?, ?)", (likeness, stored))


def history(db: sqlite3.Connection, likenesses: Sequence[str]) -> dict[str, list[Sample]]:
    """Return the samples of these likenesses, the latest first; those without any are left out."""
    found = {}
    for likeness in likenesses:
        row = db.execute("SELECT samples FROM ledger_history WHERE likeness = ?", (likeness,)).fetchone()
        if row is not None:
            found[likeness] = [Sample.from_text(text) for text in json.loads(row[0])]
    return found
