"""The family of each run in a PostgreSQL database, and what calls it has begun that may not be repeated."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from planner_executor.graph.errors import CallElsewhereError
from planner_executor.graph.ledger.family import TURNING, Effect, Family, effects_of, families, run_named
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.postgres.queries import FAILED, forks_of, read_rows
from planner_executor.graph.ledger.postgres.schema import TO_KNOW
from planner_executor.graph.ledger.postgres.transaction import Transaction
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.record.events import CallStarted, Decided, RunForked

LOCK = 6_911_051_277_381_204_004
"""Shared by whoever opens a run, and held alone by whoever opens a fork, which may make one family of two."""
_BEGINNING = 1_204_004
"""First half of the lock that the owners of a family's runs take before they begin calls; the family is the other."""

_FAMILY = "(SELECT family FROM ledger_runs WHERE id = %s)"
_SAME = f"""FROM ledger_effects AS same JOIN ledger_runs AS other ON other.id = same.run
    WHERE same.family = {_FAMILY} AND tool = %s AND (digest IN (%s, '') OR %s = '') AND same.run != %s"""
_SINCE = f"""SELECT FROM ledger_events WHERE run = %s AND seq > %s AND kind IN {TURNING}
    AND (kind = '{Decided.kind}' OR step = %s) LIMIT 1"""


def lock_families(tx: Transaction, *, alone: bool) -> None:
    """Keep families as they are until the end of the transaction; `alone`, if it may make one of two."""
    tx.tell(f"SELECT pg_advisory_xact_lock{'' if alone else '_shared'}(%s)", LOCK)


def put_family(tx: Transaction, run_id: int, run: RunKey, source: RunKey | None) -> None:
    """Note the family of a new run: that of its thread, that of the run it is a fork of, or one of its own.

    If a fork starts on a thread that has another family, both become one.
    """
    own = "coalesce((SELECT min(family) FROM ledger_runs WHERE thread = %s), %s)"
    tx.tell(f"UPDATE ledger_runs SET family = {own} WHERE id = %s", run.thread, run_id, run_id)
    if source is not None:
        _join(tx, run, source)


def other_runs(tx: Transaction, run: RunKey, *, is_fork: bool, failed: str = f"coalesce({FAILED}, true)") -> Family:
    """Return the other runs of a run's family; of a thread's own only those whose calls failed or were settled."""
    family = tx.one("SELECT family FROM ledger_runs WHERE thread = %s LIMIT 1", run.thread)
    if family is None:
        return Family((), {}, has_forks=False)
    others = "FROM ledger_runs AS runs WHERE family = %s AND (thread, n) != (%s, %s)"
    given = (family[0], run.thread, run.n)
    begun = f"SELECT thread, n, events {others} AND id IN (SELECT run FROM ledger_effects WHERE family = runs.family)"
    seen = {RunKey(thread, n): events for thread, n, events in tx.ask(begun, *given)}
    to_know = f"""SELECT thread, n {others} AND EXISTS (
        SELECT FROM ledger_events AS e WHERE e.run = runs.id AND {TO_KNOW} AND (
            e.kind != '{CallStarted.kind}' OR runs.thread != %s OR %s OR {failed}
            OR EXISTS (SELECT FROM ledger_events WHERE run = runs.id AND kind = '{RunForked.kind}'))) ORDER BY id"""
    known = [RunKey(*row) for row in tx.ask(to_know, *given, run.thread, is_fork)]
    forks = tx.one("SELECT FROM ledger_runs WHERE family = %s AND thread != %s LIMIT 1", family[0], run.thread)
    return Family(known, seen, forks is not None)


def other_runs_if_damaged(tx: Transaction, run: RunKey, *, is_fork: bool) -> Family:
    """Return what `other_runs` does and more, without a look into events, which may be damaged."""
    return other_runs(tx, run, is_fork=is_fork, failed="true")


def join_forks(tx: Transaction, names: Collection[str]) -> None:
    """Put the runs of these names and their forks into one family; they came later than their forks."""
    for fork, name in forks_of(tx):
        if name in names and (source := run_named(name)) is not None:
            _join(tx, fork, source)


def note_effects(tx: Transaction, run_id: int, effects: Iterable[Effect]) -> None:
    """Note calls that a run begins."""
    for tool, digest, step in effects:
        put = f"""INSERT INTO ledger_effects (family, tool, digest, run, step) VALUES ({_FAMILY}, %s, %s, %s, %s)
            ON CONFLICT DO NOTHING"""
        tx.tell(put, run_id, tool, digest, run_id, step)


def guess_alone(tx: Transaction, head: Head, effects: Sequence[Effect]) -> None:
    """Have the transaction fail (`workers.WRONG_GUESS`) if other runs of the family have begun such calls."""
    for tool, digest, _ in _locked(tx, head.run_id, effects):
        query = f"SELECT 1 / (NOT EXISTS (SELECT {_SAME}))::int"
        tx.tell(query, head.run_id, tool, digest, digest, head.run_id)


def check_family(
    tx: Transaction, database: str, head: Head, effects: Sequence[Effect], seen: Mapping[RunKey, int]
) -> None:
    """Refuse to begin calls if another run of the family has begun an identical one that the author may not know of.

    Raises:
        CallElsewhereError: It has.
    """
    for tool, digest, _ in _locked(tx, head.run_id, effects):
        query = f"SELECT same.run, other.thread, other.n, same.step {_SAME}"
        for other, thread, n, step in tx.ask(query, head.run_id, tool, digest, digest, head.run_id):
            known = RunKey(thread, n)
            if tx.ask(_SINCE, other, seen.get(known, 0), step):
                raise CallElsewhereError(database, head.run.id, known.id)


def renew_effects(tx: Transaction, run_id: int) -> None:
    """Note the calls of a run whose events were changed."""
    tx.tell("DELETE FROM ledger_effects WHERE run = %s", run_id)
    note_effects(tx, run_id, effects_of(read_rows(tx, run_id)))


def renew_families(tx: Transaction) -> None:
    """Note the families of all runs, and the calls that they have begun."""
    runs = {RunKey(thread, n): run_id for run_id, thread, n in tx.ask("SELECT id, thread, n FROM ledger_runs")}
    found = families(runs, forks_of(tx))
    for run_id, family in sorted(found.items()):
        tx.tell("UPDATE ledger_runs SET family = %s WHERE id = %s", family, run_id)
        renew_effects(tx, run_id)


def _join(tx: Transaction, run: RunKey, source: RunKey) -> None:
    query = "SELECT family FROM ledger_runs WHERE thread = %s AND n = %s OR thread = %s AND n = %s"
    both = {family for (family,) in tx.ask(query, run.thread, run.n, source.thread, source.n)}
    if len(both) < 2:
        return
    for table in ("ledger_runs", "ledger_effects"):
        tx.tell(f"UPDATE {table} SET family = %s WHERE family = ANY(%s)", min(both), sorted(both - {min(both)}))


def _locked(tx: Transaction, run_id: int, effects: Sequence[Effect]) -> Sequence[Effect]:
    """Return the calls, once no other run of the family can begin any until the end of the transaction."""
    if effects:
        # A statement of its own: the next one sees what others have committed before. The row of the run, which the
        # caller has locked, keeps its family as it is.
        tx.tell(f"SELECT pg_advisory_xact_lock(%s, hashint8({_FAMILY}))", _BEGINNING, run_id)
    return effects
