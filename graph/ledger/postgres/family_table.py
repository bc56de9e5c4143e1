"""The family of each run in a PostgreSQL database, and what calls it has begun that may not be repeated."""

from collections.abc import Collection, Iterable

from graph.ledger.family import Effect, effects_of, families, run_named
from graph.ledger.postgres.queries import forks_of, read_rows
from graph.ledger.postgres.transaction import Transaction
from graph.ledger.protocol import RunKey

LOCK = 6_911_051_277_381_204_004
"""Shared by whoever opens a run, and held alone by whoever opens a fork, which may make one family of two."""
_FAMILY = "(SELECT family FROM ledger_runs WHERE id = %s)"


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
