"""Taking a value out of the records of a thread: out of events, artifacts, messages and LangGraph's checkpoints."""

import sqlite3
from collections.abc import Mapping, Sequence

from planner_executor.graph.ledger.erasure import Erasure, thread_erasure
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.ledger.run_store import Redacted
from planner_executor.graph.ledger.sqlite.artifact_uses import remove_unused, renew_uses
from planner_executor.graph.ledger.sqlite.checkpoint_redaction import erase_checkpoints
from planner_executor.graph.ledger.sqlite.event_writer import EventWriter
from planner_executor.graph.ledger.sqlite.family_table import renew_effects
from planner_executor.graph.ledger.sqlite.packed_payload import stored_payload
from planner_executor.graph.ledger.sqlite.queries import head_of, run_id_of, transcript_of
from planner_executor.graph.ledger.sqlite.standing_table import redact
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.redaction import Redactor
from planner_executor.graph.record.values import Artifact


def erase(
    db: sqlite3.Connection, writer: EventWriter, thread: str, runs: Sequence[RunKey], value: str, by: str, reason: str
) -> Redacted:
    """Take a value out of all that is stored of a thread, within a transaction; `runs` are all of its runs.

    Raises:
        InputError: The record cannot do without the value.
        LedgerCorruptError: The record is damaged; nothing is changed.
    """
    found = thread_erasure(writer.database, [transcript_of(db, run) for run in runs], value)
    changed: dict[RunKey, tuple[int, ...]] = {}
    for run, erasure in zip(runs, found.runs, strict=True):
        if erasure.rows:
            changed[run] = tuple(erasure.rows)
            _write(db, writer, run, erasure, erasure.redacted(by, reason))
    _replace_artifacts(db, found.artifacts)
    _erase_messages(db, runs, found.redactor)
    checkpoints = erase_checkpoints(db, thread, found.redactor)
    approvals = redact(db, writer.database, found.redactor, by, reason)
    return Redacted(changed, len(found.artifacts), checkpoints, approvals)


def _write(db: sqlite3.Connection, writer: EventWriter, run: RunKey, erasure: Erasure, redacted: Draft) -> None:
    run_id = run_id_of(db, run)
    query = "UPDATE ledger_events SET payload = ?, salt = ? WHERE run = ? AND seq = ?"
    changed = [(stored_payload(row.kind, row.payload), row.salt, run_id, seq) for seq, row in erasure.rows.items()]
    db.executemany(query, changed)
    renew_uses(db, run_id)
    renew_effects(db, run_id)
    writer.index.forget(db, run_id)
    writer.write(db, head_of(db, run, run_id), [redacted])


def _replace_artifacts(db: sqlite3.Connection, old: Mapping[str, tuple[Artifact, str]]) -> None:
    """Put the new artifacts in the place of the old; one that a run of another thread names stays beside it."""
    new = [(artifact.id, text) for artifact, text in old.values()]
    db.executemany("INSERT OR IGNORE INTO ledger_artifacts VALUES (?, ?)", new)
    remove_unused(db, old)


def _erase_messages(db: sqlite3.Connection, runs: Sequence[RunKey], redactor: Redactor) -> None:
    """Remove the value from unread messages."""
    for run in runs:
        found = db.execute("SELECT id, message FROM ledger_inbox WHERE run = ?", (run_id_of(db, run),)).fetchall()
        changed = [(redactor.text(message), number) for number, message in found]
        db.executemany("UPDATE ledger_inbox SET message = ? WHERE id = ?", changed)
