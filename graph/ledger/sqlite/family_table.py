"""The family of each run in an SQLite file, and what calls it has begun that may not be repeated."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence

from planner_executor.graph.errors import CallElsewhereError
from planner_executor.graph.ledger.family import TURNING, Effect, Family, effects_of, families, run_named
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.ledger.sqlite.queries import FAILED, forks_of, read_rows
from planner_executor.graph.ledger.sqlite.schema import TO_KNOW
from planner_executor.graph.record.events import CallStarted, Decided, RunForked

_FAMILY = "(SELECT family FROM ledger_runs WHERE id = ?)"
_TO_KNOW = f"""(SELECT 1 FROM ledger_events AS e WHERE e.run = runs.id AND {TO_KNOW} AND (
    e.kind != '{CallStarted.kind}' OR runs.thread != ? OR ? OR coalesce({FAILED}, 1)
    OR EXISTS (SELECT 1 FROM ledger_events WHERE run = runs.id AND kind = '{RunForked.kind}')))"""
_SAME = f"""SELECT run, thread, n, step FROM ledger_effects JOIN ledger_runs ON ledger_runs.id = run
    WHERE ledger_effects.family = {_FAMILY} AND tool = ? AND (digest IN (?, '') OR ? = '') AND run != ?"""
_SINCE = f"""SELECT 1 FROM ledger_events WHERE run = ? AND seq > ? AND kind IN {TURNING}
    AND (kind = '{Decided.kind}' OR step = ?) LIMIT 1"""


def family_of(db: sqlite3.Connection, run_id: int, thread: str, source: RunKey | None) -> int:
    """Return the family of a new run: that of its thread, that of the run it is a fork of, or one of its own.

    If a fork starts on a thread that has another family, both become one.
    """
    row = db.execute("SELECT family FROM ledger_runs WHERE thread = ? LIMIT 1", (thread,)).fetchone()
    own = int(row[0]) if row is not None else run_id
    found = _family(db, source) if source is not None else None
    return own if found is None else _joined(db, {own, found})


def other_runs(db: sqlite3.Connection, run: RunKey, *, is_fork: bool) -> Family:
    """Return the other runs of a run's family; of a thread's own only those whose calls failed or were settled."""
    of_family = "FROM ledger_runs AS runs WHERE runs.family = (SELECT family FROM ledger_runs WHERE thread = ? LIMIT 1)"
    others = f"{of_family} AND (runs.thread, runs.n) != (?, ?)"
    given = (run.thread, run.thread, run.n)
    begun = f"SELECT thread, n, events {others} AND id IN (SELECT run FROM ledger_effects WHERE family = runs.family)"
    seen = {RunKey(thread, n): events for thread, n, events in db.execute(begun, given)}
    to_know = db.execute(f"SELECT thread, n {others} AND EXISTS {_TO_KNOW} ORDER BY id", (*given, run.thread, is_fork))
    known = [RunKey(*row) for row in to_know]
    forks = db.execute(f"SELECT EXISTS (SELECT 1 {of_family} AND runs.thread != ?)", (run.thread, run.thread))
    return Family(known, seen, bool(forks.fetchone()[0]))


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


def check_family(
    db: sqlite3.Connection,
    database: str,
    head: Head,
    effects: Sequence[Effect],
    seen: Mapping[RunKey, int],
) -> None:
    """Refuse to begin calls if another run of the family has begun an identical one that the author may not know of.

    Raises:
        CallElsewhereError: It has.
    """
    for tool, digest, _ in effects:
        same = db.execute(_SAME, (head.run_id, tool, digest, digest, head.run_id)).fetchall()
        for other, thread, n, step in same:
            known = RunKey(thread, n)
            if db.execute(_SINCE, (other, seen.get(known, 0), step)).fetchone():
                raise CallElsewhereError(database, head.run.id, known.id)


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
