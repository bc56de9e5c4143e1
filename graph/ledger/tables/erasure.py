"""Taking a value out of the records of a thread: out of events, artifacts, messages and LangGraph's checkpoints."""

from collections.abc import Callable, Mapping, Sequence

from planner_executor.graph.ledger.erasure import Erasure, thread_erasure
from planner_executor.graph.ledger.run_store import Redacted
from planner_executor.graph.ledger.tables.event_writer import EventWriter, put_artifacts
from planner_executor.graph.ledger.tables.families import renew_effects
from planner_executor.graph.ledger.tables.runs import locked, transcript_of
from planner_executor.graph.ledger.tables.standing import redact
from planner_executor.graph.ledger.tables.transaction import PATIENCE, Transaction
from planner_executor.graph.ledger.tables.uses import remove_unused, renew_uses
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.redaction import Redactor
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import Artifact

Erase = Callable[[Transaction, str, Redactor], int]
"""Takes a value out of the checkpoints of a thread, and returns how many rows held it."""
_ERASE = "UPDATE ledger_events SET payload = %s, salt = %s WHERE run = %s AND seq = %s"
_MESSAGES = """SELECT ledger_inbox.id, message FROM ledger_inbox JOIN ledger_runs ON ledger_runs.id = run
    WHERE thread = %s"""


def erase(
    tx: Transaction,
    writer: EventWriter,
    thread: str,
    runs: Sequence[RunKey],
    value: str,
    by: str,
    reason: str,
    erase_checkpoints: Erase,
) -> Redacted:
    """Take a value out of all that is stored of a thread, within a transaction; `runs` are all of its runs.

    Raises:
        InputError: The record cannot do without the value.
        LedgerCorruptError: The record is damaged; nothing is changed.
    """
    tx.on_server(PATIENCE)
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
        tx.tell(_ERASE, tx.stored_payload(row.kind, row.payload), row.salt, head.run_id, seq)
    renew_uses(tx, head.run_id)
    renew_effects(tx, head.run_id)
    # Before the event is written, which brings the index up to date: its row is then made of the changed events.
    writer.index.forget(tx, head.run_id)
    writer.write(tx, head, [redacted])


def _replace_artifacts(tx: Transaction, old: Mapping[str, tuple[Artifact, str]]) -> None:
    """Put the new artifacts in the place of the old; one that a run of another thread names stays beside it."""
    put_artifacts(tx, [(artifact.id, text) for artifact, text in old.values()])
    # What the runs of the thread name was noted anew above, so what is left of an old one is named elsewhere.
    remove_unused(tx, old.keys())


def _erase_messages(tx: Transaction, thread: str, redactor: Redactor) -> None:
    """Remove the value from unread messages."""
    for number, message in tx.ask(_MESSAGES, thread):
        tx.tell("UPDATE ledger_inbox SET message = %s WHERE id = %s", redactor.text(message), number)
