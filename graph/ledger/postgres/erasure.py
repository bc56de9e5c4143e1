"""Taking a value out of the records of a thread: out of events, artifacts, messages and LangGraph's checkpoints."""

from collections.abc import Iterator, Mapping, Sequence

from planner_executor.graph.ledger.checkpoint_cells import plain_bytes
from planner_executor.graph.ledger.erasure import Erasure, thread_erasure
from planner_executor.graph.ledger.packed_checkpoint import DICTIONARIES
from planner_executor.graph.ledger.postgres.artifact_uses import remove_unused, renew_uses
from planner_executor.graph.ledger.postgres.event_writer import EventWriter
from planner_executor.graph.ledger.postgres.family_table import renew_effects
from planner_executor.graph.ledger.postgres.queries import locked, transcript_of
from planner_executor.graph.ledger.postgres.standing_table import redact
from planner_executor.graph.ledger.postgres.thread_tables import CELLS, erase_checkpoints, tables_of
from planner_executor.graph.ledger.postgres.transaction import LONG, Rows, Transaction
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.ledger.run_store import Redacted
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.redaction import Redactor
from planner_executor.graph.record.run_state import run_name
from planner_executor.graph.record.values import Artifact

REWRITTEN = (
    "ledger_events",
    "ledger_artifacts",
    "ledger_inbox",
    "ledger_index",
    "ledger_tags",
    "ledger_standing",
    "ledger_effects",
)
"""Tables whose old rows the server forgets after a redaction."""


def erase(
    tx: Transaction, writer: EventWriter, thread: str, runs: Sequence[RunKey], value: str, by: str, reason: str
) -> Redacted:
    """Take a value out of all that is stored of a thread, within a transaction; `runs` are all of its runs.

    Raises:
        InputError: The record cannot do without the value.
        LedgerCorruptError: The record is damaged; nothing is changed.
    """
    tx.tell(LONG)
    found = thread_erasure(writer.database, [transcript_of(tx, writer.database, run) for run in runs], value)
    changed: dict[RunKey, tuple[int, ...]] = {}
    for run, erasure in zip(runs, found.runs, strict=True):
        if erasure.rows:
            changed[run] = tuple(erasure.rows)
            _write(tx, writer, run, erasure, erasure.redacted(by, reason))
    _replace_artifacts(tx, found.artifacts)
    _erase_messages(tx, thread, found.redactor)
    checkpoints = erase_checkpoints(tx, thread, found.redactor)
    approvals = redact(tx, writer.database, found.redactor, by, reason)
    return Redacted(changed, len(found.artifacts), checkpoints, approvals)


def _write(tx: Transaction, writer: EventWriter, run: RunKey, erasure: Erasure, redacted: Draft) -> None:
    head = locked(tx, writer.database, run)
    for seq, row in erasure.rows.items():
        query = "UPDATE ledger_events SET payload = %s, salt = %s WHERE run = %s AND seq = %s"
        tx.tell(query, row.payload, row.salt, head.run_id, seq)
    renew_uses(tx, head.run_id)
    renew_effects(tx, head.run_id)
    writer.index.forget(tx, head.run_id)
    writer.write(tx, head, [redacted])


def _replace_artifacts(tx: Transaction, old: Mapping[str, tuple[Artifact, str]]) -> None:
    """Put the new artifacts in the place of the old; one that a run of another thread names stays beside it."""
    new = {artifact.id: text for artifact, text in old.values()}
    tx.tell_rows("INSERT INTO ledger_artifacts (id, content) VALUES {} ON CONFLICT DO NOTHING", sorted(new.items()))
    remove_unused(tx, old.keys())


def _erase_messages(tx: Transaction, thread: str, redactor: Redactor) -> None:
    """Remove the value from unread messages."""
    query = "SELECT ledger_inbox.id, message FROM ledger_inbox JOIN ledger_runs ON ledger_runs.id = run"
    for number, message in tx.ask(f"{query} WHERE thread = %s", thread):
        tx.tell("UPDATE ledger_inbox SET message = %s WHERE id = %s", redactor.text(message), number)


def places_of(tx: Transaction, forms: Sequence[str]) -> list[str]:
    """Return the places that still hold a value, in one of its forms, named by run or thread if they have one."""
    return list(dict.fromkeys([*_ledger_places(tx, forms), *_checkpoint_places(tx, forms)]))


def _ledger_places(tx: Transaction, forms: Sequence[str]) -> Iterator[str]:
    texts = (
        "SELECT id AS run, thread AS text FROM ledger_runs UNION ALL SELECT run, payload FROM ledger_events UNION ALL "
        "SELECT run, step FROM ledger_events UNION ALL SELECT run, message FROM ledger_inbox UNION ALL "
        "SELECT run, tag FROM ledger_tags UNION ALL "
        "SELECT run, concat_ws(' ', goal, reason, asks, people, tags) FROM ledger_index"
    )
    query = f"SELECT DISTINCT thread, n FROM ({texts}) AS texts JOIN ledger_runs ON ledger_runs.id = run WHERE {{}}"
    for thread, n in _holding(tx, query, "text", forms):
        yield f"run {run_name(thread, n)}"
    for (name,) in _holding(tx, "SELECT id FROM ledger_artifacts WHERE {}", "content", forms):
        yield f"artifact {name}"
    for (name,) in _holding(tx, "SELECT DISTINCT approval FROM ledger_standing WHERE {}", "payload", forms):
        yield f"standing approval {name}"


def _checkpoint_places(tx: Transaction, forms: Sequence[str]) -> Iterator[str]:
    tables = tables_of(tx)
    if "checkpoints" in tables:
        query = "SELECT DISTINCT thread_id FROM checkpoints WHERE {}"
        for column in ("checkpoint::text", "metadata::text", "thread_id"):
            yield from (f"checkpoints of thread {name}" for (name,) in _holding(tx, query, column, forms))
    sought = [form.encode("utf-8", "surrogatepass") for form in forms]
    for table in CELLS.keys() & set(tables):
        found = " OR ".join("position(%s in blob) > 0" for _ in sought)
        rows = tx.ask(
            f"SELECT thread_id, type, blob FROM {table} WHERE type = ANY(%s) OR {found}", list(DICTIONARIES), *sought
        )
        for thread, kind, blob in rows:
            if any(form in plain_bytes(kind, blob) for form in sought):
                yield f"{table} of thread {thread}"


def _holding(tx: Transaction, query: str, column: str, forms: Sequence[str]) -> Rows:
    """Return the rows of a query whose column holds one of the forms that a text of the database can hold."""
    storable = [form for form in forms if "\0" not in form]
    found = " OR ".join(f"position(%s in {column}) > 0" for _ in storable)
    return tx.ask(query.format(found), *storable) if storable else []
