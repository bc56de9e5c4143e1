"""The tables of runs and of their events, and questions asked of them within a transaction."""

from dataclasses import replace

from planner_executor.graph.errors import MissingRunError
from planner_executor.graph.ledger.chain import COLUMNS, first_link
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.lease import Holder
from planner_executor.graph.ledger.refusals import damaged_row
from planner_executor.graph.ledger.seal import Standing
from planner_executor.graph.ledger.tables.dialect import AMONG, LOCKED, either
from planner_executor.graph.ledger.tables.run_names import RUN
from planner_executor.graph.ledger.tables.run_rows import ALL, HAS_MESSAGES, found_of, run_id_of
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.ledger.tombstone import thread_digest
from planner_executor.graph.ledger.transcript import Transcript, artifact_ids, source_in
from planner_executor.graph.record.events import CONTROL, RunForked
from planner_executor.graph.record.run_key import RunKey

_MOST = either("max", "greatest")
_NEXT_NUMBER = f"""{_MOST}(
    coalesce((SELECT max(n) FROM ledger_runs WHERE thread = %s), 0),
    coalesce((SELECT max(last) FROM ledger_tombstones WHERE thread = %s), 0)
) + 1"""
"""Number of a thread's next run, for the thread and its digest; those of removed runs are not given again."""
TOP = """max(coalesce((SELECT max(id) FROM ledger_runs), 0),
    coalesce((SELECT top FROM ledger_tombstones ORDER BY number DESC LIMIT 1), 0))"""
"""In a file: the highest number that the tables gave to a run; an outdated lease must not fit another run."""
_ID = either("id, ", "")
_NEXT_ID = either(f"{TOP} + 1, ", "")
"""A server counts by itself, and gives no number twice."""
# `WHERE true`: behind a SELECT without WHERE, SQLite may take the ON of ON CONFLICT for that of a join.
_OPEN = f"""INSERT INTO ledger_runs ({_ID}thread, n) SELECT {_NEXT_ID}%s, {_NEXT_NUMBER} WHERE true
    ON CONFLICT DO NOTHING RETURNING n, id"""
_ADOPT = f"""INSERT INTO ledger_runs ({_ID}thread, n, events, key, seal) VALUES ({_NEXT_ID}%s, %s, %s, %s, %s)
    RETURNING id"""
_LAST_EVENT = either(
    """LEFT JOIN ledger_events AS last ON last.run = runs.id
    AND last.seq = (SELECT seq FROM ledger_events WHERE run = runs.id ORDER BY seq DESC LIMIT 1)""",
    """LEFT JOIN LATERAL (
        SELECT seq, link FROM ledger_events WHERE ledger_events.run = runs.id ORDER BY seq DESC LIMIT 1
    ) AS last ON true""",
)
_HEAD = f"""SELECT runs.id, runs.events, runs.key, runs.seal, last.seq, last.link, owner, token, beat,
    {either("0.0", "extract(epoch FROM clock_timestamp() - beat_at)::float8")}, {HAS_MESSAGES},
    (SELECT max(seq) FROM ledger_events WHERE ledger_events.run = runs.id AND kind IN {CONTROL})
    FROM ledger_runs AS runs LEFT JOIN ledger_leases ON ledger_leases.run = runs.id {_LAST_EVENT}
    WHERE thread = %s AND n = %s"""
_ARTIFACTS = f"SELECT id, content FROM ledger_artifacts WHERE id {AMONG}"
_FORKS = f"""SELECT thread, n, {COLUMNS} FROM ledger_events
    JOIN ledger_runs ON ledger_runs.id = run WHERE kind = '{RunForked.kind}'{{}} ORDER BY run"""
_ALL_FORKS = _FORKS.format("")
_FORKS_OF = _FORKS.format(" AND family = (SELECT family FROM ledger_runs WHERE thread = %s LIMIT 1)")


def open_row(tx: Transaction, thread: str) -> tuple[RunKey, int]:
    """Start the thread's next run, and return it with the number by which the tables know it."""
    while not (opened := tx.one(_OPEN, thread, thread, thread_digest(thread))):
        pass  # another process has just opened a run of that number
    return RunKey(thread, opened[0]), opened[1]


def adopted_row(tx: Transaction, run: Transcript) -> int:
    """Store a run as another database has it, without its events, and return its number."""
    return int(tx.ask(_ADOPT, run.thread, run.n, run.written, run.key, run.seal)[0][0])


def has_thread(tx: Transaction, thread: str) -> bool:
    """Whether a thread has or had runs."""
    return bool(tx.ask(f"SELECT {_NEXT_NUMBER}", thread, thread_digest(thread))[0][0] > 1)


def locked(tx: Transaction, database: str, run: RunKey) -> Head:
    """Return a run, after its row was locked for this transaction; whoever changes a run locks its row first.

    Raises:
        MissingRunError: It is not there.
        LedgerUnavailableError: Its row is damaged.
    """
    lock_row(tx, run)
    return head_of(tx, database, run)


def lock_row(tx: Transaction, run: RunKey) -> None:
    """Lock the row of a run, if it is there, with a statement of its own: the next one sees what came before."""
    tx.on_server(f"{RUN} {LOCKED}", run.thread, run.n)


def head_of(tx: Transaction, database: str, run: RunKey) -> Head:
    """Return a run, with one statement: it is looked at before each event.

    Raises:
        MissingRunError: It is not there.
        LedgerUnavailableError: Its row, its lease or the number of its last event is damaged.
    """
    row = tx.one(_HEAD, run.thread, run.n)
    if row is None:
        raise MissingRunError(database, run.id)
    run_id, events, key, seal, seq, link, owner, token, beat, silent_s, has_messages, control_seq = row
    # Types are checked by hand: SQLite keeps whatever a damaged or edited file holds.
    if type(events) is not int:
        raise damaged_row(database, "the list of runs")
    if owner is not None and (type(owner), type(token), type(beat)) != (str, int, int):
        raise damaged_row(database, "a lease")
    holder = Holder(owner, token, beat) if owner is not None else None
    # A run without an event begins its chain with its own id.
    link = first_link(run.id) if seq is None else bytes(link)
    standing, last = Standing(events, key, seal), int(seq or 0)
    return Head(run, run_id, standing, last, link, holder, bool(has_messages), int(control_seq or 0), silent_s or 0.0)


def numbers_of(tx: Transaction, thread: str) -> list[int]:
    """Return the numbers of the thread's runs, in order."""
    return [n for (n,) in tx.ask("SELECT n FROM ledger_runs WHERE thread = %s ORDER BY n", thread)]


def transcript_of(tx: Transaction, database: str, run: RunKey) -> Transcript:
    """Return everything that is stored of a run."""
    rows, (written, key, seal), _ = found_of(tx, database, run_id_of(tx, database, run), ALL)
    bare = Transcript(run.thread, run.n, rows, written, key, seal)
    named = artifact_ids(bare.events())
    kept: dict[str, str] = dict(tx.ask(_ARTIFACTS, tx.many(named)) if named else ())
    return replace(bare, artifacts={name: kept[name] for name in named if name in kept})


def forks_of(tx: Transaction, thread: str | None = None) -> list[tuple[RunKey, str]]:
    """Return the forks in the family of a thread, or all, each with the name of the run that it is a fork of."""
    found = tx.ask(_ALL_FORKS) if thread is None else tx.ask(_FORKS_OF, thread)
    rows = tx.read_rows(row for _, _, *row in found)
    return [(RunKey(thread, n), source_in(row.payload)) for (thread, n, *_), row in zip(found, rows, strict=True)]
