"""The family of each run, and what calls it has begun that may not be repeated; see `graph.ledger.family`."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from planner_executor.graph.errors import CallElsewhereError
from planner_executor.graph.ledger.calls_to_know import TURNING
from planner_executor.graph.ledger.family import Effect, Family, effects_of, families
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.tables.dialect import AMONG, SAME, either, payload_text
from planner_executor.graph.ledger.tables.locks import BEGINNING, FAMILIES, lock
from planner_executor.graph.ledger.tables.run_rows import read_rows
from planner_executor.graph.ledger.tables.runs import forks_of
from planner_executor.graph.ledger.tables.schema import TO_KNOW
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.record.events import CallFinished, CallStarted, Decided, RunForked
from planner_executor.graph.record.run_key import RunKey, run_in

_FAMILY = "(SELECT family FROM ledger_runs WHERE id = %s)"
BEGUN_ALIKE = f"""FROM ledger_effects AS same JOIN ledger_runs AS other ON other.id = same.run
    WHERE same.family = {_FAMILY} AND tool = %s AND (digest IN (%s, '') OR %s = '') AND same.run != %s"""
"""What other runs of a run's family have begun that may be a call of this tool with this digest."""
_ALIKE = f"SELECT same.run, other.thread, other.n, same.step {BEGUN_ALIKE}"
_SINCE = f"""SELECT 1 FROM ledger_events WHERE run = %s AND seq > %s AND kind IN {TURNING}
    AND (kind = '{Decided.kind}' OR step = %s) LIMIT 1"""
_PUT = f"""INSERT INTO ledger_effects (family, tool, digest, run, step) VALUES ({_FAMILY}, %s, %s, %s, %s)
    ON CONFLICT DO NOTHING"""
_JOIN_THREAD = """UPDATE ledger_runs SET family = coalesce((SELECT min(family) FROM ledger_runs WHERE thread = %s), id)
    WHERE id = %s"""
_BOTH = "SELECT family FROM ledger_runs WHERE thread = %s AND n = %s OR thread = %s AND n = %s"
_OTHERS = "FROM ledger_runs AS runs WHERE family = %s AND (thread, n) != (%s, %s)"
_BEGUN = f"SELECT thread, n, events {_OTHERS} AND id IN (SELECT run FROM ledger_effects WHERE family = runs.family)"
_FORKS = "SELECT 1 FROM ledger_runs WHERE family = %s AND thread != %s LIMIT 1"


def _field(name: str, of: str) -> str:
    payload = f"{of}.payload"
    return either(f"json_extract({payload_text(payload)}, '$.{name}')", f"{payload}::json ->> '{name}'")


_FAILED = f"""coalesce((SELECT ended.kind != '{CallFinished.kind}' OR {_field("status", "ended")} != 'succeeded'
    FROM ledger_events AS ended
    WHERE ended.run = e.run AND ended.seq > e.seq AND ended.kind IN ('{CallStarted.kind}', '{CallFinished.kind}')
    AND ended.step {SAME} e.step AND {_field("call", "ended")} = {_field("call", "e")}
    AND {_field("item", "ended")} {SAME} {_field("item", "e")}
    ORDER BY ended.seq LIMIT 1), true)"""
"""For a call's start: whether the call failed, or has no outcome."""


def _to_know(failed: str) -> str:
    return f"""SELECT thread, n {_OTHERS} AND EXISTS (
        SELECT 1 FROM ledger_events AS e WHERE e.run = runs.id AND {TO_KNOW} AND (
            e.kind != '{CallStarted.kind}' OR runs.thread != %s OR %s OR {failed}
            OR EXISTS (SELECT 1 FROM ledger_events WHERE run = runs.id AND kind = '{RunForked.kind}'))) ORDER BY id"""


TO_KNOW_OTHERS = _to_know(_FAILED)
IF_DAMAGED = _to_know("true")
"""The same runs and more, without a look into events, which may be damaged."""


def lock_families(tx: Transaction, *, alone: bool) -> None:
    """Keep families as they are until the end of the transaction; `alone`, if it may make one of two."""
    lock(tx, FAMILIES, alone=alone)


def put_family(tx: Transaction, run_id: int, run: RunKey, source: RunKey | None) -> None:
    """Note the family of a new run: that of its thread, that of the run it is a fork of, or one of its own.

    If a fork starts on a thread that has another family, both become one.
    """
    tx.tell(_JOIN_THREAD, run.thread, run_id)
    if source is not None:
        _join(tx, run, source)


def other_runs(tx: Transaction, run: RunKey, *, is_fork: bool, query: str = TO_KNOW_OTHERS) -> Family:
    """Return the other runs of a run's family; of a thread's own only those whose calls failed or were settled."""
    family = tx.one("SELECT family FROM ledger_runs WHERE thread = %s LIMIT 1", run.thread)
    if family is None:
        return Family((), {}, has_forks=False)
    given = (family[0], run.thread, run.n)
    seen = {RunKey(thread, n): events for thread, n, events in tx.ask(_BEGUN, *given)}
    known = [RunKey(*row) for row in tx.ask(query, *given, run.thread, is_fork)]
    return Family(known, seen, tx.one(_FORKS, family[0], run.thread) is not None)


def join_forks(tx: Transaction, names: Collection[str]) -> None:
    """Put the runs of these names and their forks into one family; they came later than their forks."""
    for fork, name in forks_of(tx):
        if name in names and (source := run_in(name)) is not None:
            _join(tx, fork, source)


def note_effects(tx: Transaction, run_id: int, effects: Iterable[Effect]) -> None:
    """Note calls that a run begins."""
    for tool, digest, step in effects:
        tx.tell(_PUT, run_id, tool, digest, run_id, step)


def check_family(
    tx: Transaction, database: str, head: Head, effects: Sequence[Effect], seen: Mapping[RunKey, int]
) -> None:
    """Refuse to begin calls if another run of the family has begun an identical one that the author may not know of.

    Raises:
        CallElsewhereError: It has.
    """
    for tool, digest, _ in held_back(tx, head.run_id, effects):
        for other, thread, n, step in tx.ask(_ALIKE, head.run_id, tool, digest, digest, head.run_id):
            known = RunKey(thread, n)
            if tx.one(_SINCE, other, seen.get(known, 0), step):
                raise CallElsewhereError(database, head.run.id, known.id)


def held_back(tx: Transaction, run_id: int, effects: Sequence[Effect]) -> Sequence[Effect]:
    """Return the calls, once no other run of the family can begin any until the end of the transaction."""
    if effects:
        # A statement of its own: the next one sees what others have committed before. The row of the run, which the
        # caller has locked, keeps its family as it is.
        tx.on_server(f"SELECT pg_advisory_xact_lock(%s, hashint8({_FAMILY}))", BEGINNING, run_id)
    return effects


def renew_effects(tx: Transaction, run_id: int) -> None:
    """Note the calls of a run whose events were changed."""
    tx.tell("DELETE FROM ledger_effects WHERE run = %s", run_id)
    note_effects(tx, run_id, effects_of(read_rows(tx, run_id)))


def renew_families(tx: Transaction) -> None:
    """Note the families of all runs, and the calls that they have begun."""
    runs = {RunKey(thread, n): run_id for run_id, thread, n in tx.ask("SELECT id, thread, n FROM ledger_runs")}
    for run_id, family in sorted(families(runs, forks_of(tx)).items()):
        tx.tell("UPDATE ledger_runs SET family = %s WHERE id = %s", family, run_id)
        renew_effects(tx, run_id)


def _join(tx: Transaction, run: RunKey, source: RunKey) -> None:
    both = {family for (family,) in tx.ask(_BOTH, run.thread, run.n, source.thread, source.n)}
    if len(both) < 2:
        return
    for table in ("ledger_runs", "ledger_effects"):
        query = f"UPDATE {table} SET family = %s WHERE family {AMONG}"
        tx.tell(query, min(both), tx.many(sorted(both - {min(both)})))
