"""Questions asked of the ledger's tables within a transaction."""

from collections.abc import Iterator
from dataclasses import replace

from planner_executor.graph.ledger.chain import Row, first_link
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.lease import Holder
from planner_executor.graph.ledger.postgres.transaction import Transaction
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.ledger.reading import Snapshot
from planner_executor.graph.ledger.refusals import Standing, unknown_run
from planner_executor.graph.ledger.transcript import Transcript, artifact_ids, source_in
from planner_executor.graph.record.events import CONTROL, CallFinished, CallStarted, RunForked

ALL = -(2**63)
"""Sequence number below every stored one, to select all rows, also damaged ones."""

NEXT_NUMBER = """greatest(
    coalesce((SELECT max(n) FROM ledger_runs WHERE thread = %s), 0),
    coalesce((SELECT max(last) FROM ledger_tombstones WHERE thread = %s), 0)
) + 1"""
"""Number of a thread's next run, for the thread and its digest; those of removed runs are not given again."""

_RUN = "SELECT id FROM ledger_runs WHERE thread = %s AND n = %s"
_HEAD = f"""SELECT runs.id, runs.events, runs.key, runs.seal, last.seq, last.link, owner, token, beat,
    extract(epoch FROM clock_timestamp() - beat_at)::float8,
    EXISTS (SELECT FROM ledger_inbox WHERE ledger_inbox.run = runs.id),
    (SELECT max(seq) FROM ledger_events WHERE ledger_events.run = runs.id AND kind IN {CONTROL})
    FROM ledger_runs AS runs LEFT JOIN ledger_leases ON ledger_leases.run = runs.id
    LEFT JOIN LATERAL (
        SELECT seq, link FROM ledger_events WHERE ledger_events.run = runs.id ORDER BY seq DESC LIMIT 1
    ) AS last ON true
    WHERE thread = %s AND n = %s"""
_ROWS = "SELECT seq, kind, step, at, payload, salt, digest, link FROM ledger_events WHERE run = %s AND seq >= %s"
FAILED = f"""(SELECT ended.kind != '{CallFinished.kind}' OR ended.payload::json ->> 'status' != 'succeeded'
    FROM ledger_events AS ended
    WHERE ended.run = e.run AND ended.seq > e.seq AND ended.kind IN ('{CallStarted.kind}', '{CallFinished.kind}')
    AND ended.step IS NOT DISTINCT FROM e.step
    AND ended.payload::json ->> 'call' = e.payload::json ->> 'call'
    AND ended.payload::json ->> 'item' IS NOT DISTINCT FROM e.payload::json ->> 'item'
    ORDER BY ended.seq LIMIT 1)"""
"""For a call's start: whether the call failed; null if it has no outcome."""


_AS_GUESSED = """SELECT 1 / count(*) FROM ledger_runs AS runs JOIN ledger_leases ON ledger_leases.run = runs.id
    JOIN ledger_events AS last ON last.run = runs.id AND last.seq = runs.events
    WHERE runs.id = %s AND runs.events = %s AND runs.key IS NOT DISTINCT FROM %s AND runs.seal IS NOT DISTINCT FROM %s
    AND last.link = %s AND owner = %s AND token = %s
    AND NOT EXISTS (SELECT FROM ledger_events AS more WHERE more.run = runs.id AND more.seq > runs.events)"""
_NO_MESSAGES = " AND NOT EXISTS (SELECT FROM ledger_inbox AS inbox WHERE inbox.run = runs.id)"


def locked(tx: Transaction, database: str, run: RunKey) -> Head:
    """Return a run, after its row was locked for this transaction; whoever changes a run locks its row first.

    Raises:
        LedgerUnavailableError: It is not there.
    """
    tx.tell(f"{_RUN} FOR UPDATE", run.thread, run.n)  # a statement of its own: the next one sees what came before
    return head_of(tx, database, run)


def guess(tx: Transaction, head: Head, require_empty_inbox: bool) -> None:
    """Lock a run, and have the transaction fail (`workers.WRONG_GUESS`) unless it is as given; nothing is asked."""
    assert head.holder is not None
    tx.tell("SELECT FROM ledger_runs WHERE id = %s FOR UPDATE", head.run_id)
    query = f"{_AS_GUESSED}{_NO_MESSAGES if require_empty_inbox else ''}"
    tx.tell(query, head.run_id, *head.standing, head.link, head.holder.owner, head.holder.token)


def head_of(tx: Transaction, database: str, run: RunKey) -> Head:
    """Return a run.

    Raises:
        LedgerUnavailableError: It is not there.
    """
    row = tx.one(_HEAD, run.thread, run.n)
    if row is None:
        raise unknown_run(database, run)
    run_id, events, key, seal, seq, link, owner, token, beat, silent_s, has_messages, control_seq = row
    holder = Holder(owner, token, beat) if owner is not None else None
    link = first_link(run.id) if link is None else link
    standing = Standing(events, key, seal)
    return Head(run, run_id, standing, seq or 0, link, holder, has_messages, control_seq or 0, silent_s or 0.0)


def run_id_of(tx: Transaction, database: str, run: RunKey) -> int:
    """Return the number by which the tables know a run.

    Raises:
        LedgerUnavailableError: It is not there.
    """
    row = tx.one(_RUN, run.thread, run.n)
    if row is None:
        raise unknown_run(database, run)
    return int(row[0])


def last_number(tx: Transaction, thread: str) -> int:
    """Return the number of the thread's latest run, 0 if there is none."""
    return int(tx.ask("SELECT coalesce(max(n), 0) FROM ledger_runs WHERE thread = %s", thread)[0][0])


def numbers_of(tx: Transaction, thread: str) -> list[int]:
    """Return the numbers of the thread's runs, in order."""
    return [n for (n,) in tx.ask("SELECT n FROM ledger_runs WHERE thread = %s ORDER BY n", thread)]


def read_rows(tx: Transaction, run_id: int, after: int = ALL) -> Iterator[Row]:
    """Yield a run's rows from the `after`-th on."""
    return map(Row._make, tx.ask(f"{_ROWS} ORDER BY seq", run_id, after))


def found_of(tx: Transaction, run_id: int, after: int) -> Snapshot:
    """Return a run from its `after`-th event on; fewer rows than were written are a fault, not a shorter run."""
    rows = list(read_rows(tx, run_id, after))
    waits = "EXISTS (SELECT FROM ledger_inbox WHERE ledger_inbox.run = ledger_runs.id)"
    query = f"SELECT events, key, seal, {waits} FROM ledger_runs WHERE id = %s"
    *standing, has_messages = tx.ask(query, run_id)[0]
    return Snapshot(rows, Standing._make(standing), has_messages)


def transcript_of(tx: Transaction, database: str, run: RunKey) -> Transcript:
    """Return everything that is stored of a run."""
    rows, (written, key, seal), _ = found_of(tx, run_id_of(tx, database, run), ALL)
    bare = Transcript(run.thread, run.n, rows, written, key, seal)
    named = artifact_ids(bare.events())
    kept: dict[str, str] = {}
    if named:
        kept.update(tx.ask("SELECT id, content FROM ledger_artifacts WHERE id = ANY(%s)", named))
    return replace(bare, artifacts={name: kept[name] for name in named if name in kept})


def forks_of(tx: Transaction) -> list[tuple[RunKey, str]]:
    """Return the runs that are forks, each with the name of the run that it is a fork of."""
    query = (
        "SELECT thread, n, payload FROM ledger_events JOIN ledger_runs ON ledger_runs.id = run "
        f"WHERE kind = '{RunForked.kind}' ORDER BY run"
    )
    return [(RunKey(thread, n), source_in(payload)) for thread, n, payload in tx.ask(query)]
