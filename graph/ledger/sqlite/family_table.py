"""The family of each run in an SQLite file, and what calls it has begun that may not be repeated."""

import sqlite3
from collections.abc import Collection, Iterable

from graph.ledger.family import Effect, effects_of, families, run_named
from graph.ledger.protocol import RunKey
from graph.ledger.sqlite.queries import forks_of, read_rows

_FAMILY = "(SELECT family FROM ledger_runs WHERE id = ?)"


def family_of(db: sqlite3.Connection, run_id: int, thread: str, source: RunKey | None) -> int:
    """Return the family of a new run: that of its thread, that of the run it is a fork of, or one of its own.

    If a fork starts on a thread that has another family, both become one.
    """
    row = db.execute("SELECT family FROM ledger_runs WHERE thread = ? LIMIT 1", (thread,)).fetchone()
    own = int(row[0]) if row is not None else run_id
    found = _family(db, source) if source is not None else None
    return own if found is None else _joined(db, {own, found})


def join_forks(db: sqlite3.Connection, names: Collection[str]) -> None:
    """Put the runs of these names and their forks into one family; they came later than their forks."""
    for fork, name in forks_of(db):
        if name in names and (source := run_named(name)) is not None:
            _joined(db, {one for one in (_family(db, fork), _family(db, source)) if one is not None})


def note_effects(db: sqlite3.Connection, run_id: int, effects: Iterable[Effect]) -> None:
    """Note calls that a run begins."""
    put = f"INSERT OR IGNORE INTO ledger_effects (family, tool, digest, run, step) VALUES ({_FAMILY}, ?, ?, ?, ?)"
    for tool, digest, step in effects:
        db.execute(put, (run_id, tool, digest, run_id, step))


def renew_effects(db: sqlite3.Connection, run_id: int) -> None:
    """Note the calls of a run whose events were changed."""
    db.execute("DELETE FROM ledger_effects WHERE run = ?", (run_id,))
    note_effects(db, run_id, effects_of(read_rows(db, run_id)))


def renew_families(db: sqlite3.Connection) -> None:
    """Note the families of all runs, and the calls that they have begun."""
    runs = {RunKey(thread, n): run_id for run_id, thread, n in db.execute("SELECT id, thread, n FROM ledger_runs")}
    found = families(runs, forks_of(db))
    db.executemany("UPDATE ledger_runs SET family = ? WHERE id = ?", [(family, one) for one, family in found.items()])
    for run_id in sorted(found):
        renew_effects(db, run_id)


def _family(db: sqlite3.Connection, run: RunKey) -> int | None:
    row = db.execute("SELECT family FROM ledger_runs WHERE thread = ? AND n = ?", (run.thread, run.n)).fetchone()
    return int(row[0]) if row is not None else None


def _joined(db: sqlite3.Connection, found: Collection[int]) -> int:
    """Make one family of several, and return it."""
    one = min(found)
    for other in {*found} - {one}:
        for table in ("ledger_runs", "ledger_effects"):
            db.execute(f"UPDATE {table} SET family = ? WHERE family = ?", (one, other))
    return one
