"""Taking a value out of the records of a thread: out of events, artifacts and LangGraph's checkpoints, and the file.

An event whose payload changes loses its salt and keeps its digest, so the chain still holds; an event `redacted` binds
the payload that stands there now.
"""

import hmac
import json
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256

from pydantic import ValidationError

from graph.errors import InputError, LedgerCorruptError
from graph.ledger.chain import REDACTED, Row, fault_of, payload_digest
from graph.ledger.protocol import Redacted, RunKey
from graph.ledger.sqlite.checkpoint_redaction import erase_checkpoints
from graph.ledger.sqlite.event_writer import EventWriter
from graph.ledger.sqlite.packed_payload import UNPACKED, stored_payload
from graph.ledger.sqlite.queries import compact_json, run_id_of, transcript_of
from graph.ledger.transcript import Transcript
from graph.plan.schema import Plan
from graph.record.artifacts import artifacts_named, with_artifacts
from graph.record.events import Draft, Event
from graph.record.projection import project
from graph.record.redaction import Redactor, Unredactable, names_for, redacted_payload
from graph.record.values import PREVIEW_CHARACTERS, Artifact

NAME_BYTES = 8


@dataclass(frozen=True)
class Erasure:
    """What stands in a run in place of what held the value: rows by sequence number, artifacts by their old id."""

    rows: Mapping[int, Row]
    artifacts: Mapping[str, tuple[Artifact, str]]
    redactor: Redactor


def redactor_of(value: str) -> Redactor:
    """Return what takes a value out.

    Raises:
        InputError: It cannot be taken out.
    """
    try:
        return Redactor(value)
    except Unredactable as error:
        raise InputError("value", f"it cannot be taken out: {error}") from error


def erasure_of(transcript: Transcript, value: str, secret: bytes = b"") -> Erasure:
    """Return what has to be changed in a run; `secret` gives a digest the same name in all runs of a thread.

    Raises:
        Unredactable: The record cannot do without the value.
    """
    bare, events = Redactor(value), transcript.events()
    if bare.finds([transcript.thread, *(event.step for event in events)]):
        raise Unredactable("it stands in the name of the run, or of a step")
    artifacts = _artifacts(transcript, bare)

    def holds(event: Event) -> bool:
        return bare.finds(event.payload) or not artifacts.keys().isdisjoint(artifacts_named([event]))

    redactor = replace(bare, names=names_for(events, holds, partial(_new_name, secret or secrets.token_bytes())))
    others = {old: artifact.to_json() for old, (artifact, _) in artifacts.items()}
    rows = {}
    for row, event in zip(transcript.rows, events, strict=True):
        payload = compact_json(redacted_payload(with_artifacts(event.payload, others), redactor))
        if payload != row.payload:
            rows[row.seq] = row._replace(payload=payload, salt=b"")
    after = replace(transcript, rows=[rows.get(row.seq, row) for row in transcript.rows])
    _check(events, after.events())
    return Erasure(rows, artifacts, redactor)


def erase(
    db: sqlite3.Connection, writer: EventWriter, runs: list[RunKey], value: str, by: str, reason: str
) -> Redacted:
    """Take a value out of all that is stored of a thread, within a transaction; `runs` are all of its runs.

    Raises:
        InputError: The record cannot do without the value.
        LedgerCorruptError: The record is not what was written; nothing is changed in it.
    """
    changed: dict[RunKey, tuple[int, ...]] = {}
    old: dict[str, tuple[Artifact, str]] = {}
    names: dict[str, str] = {}
    secret = secrets.token_bytes()
    for run in runs:
        erasure = _erasure(transcript_of(db, run), writer.database, value, secret)
        old.update(erasure.artifacts)
        names.update(erasure.redactor.names)
        if erasure.rows:
            changed[run] = tuple(erasure.rows)
            _write(db, writer, run, erasure, Draft(REDACTED, _told(erasure, by, reason), safe=False))
    redactor = Redactor(value, names)
    _replace_artifacts(db, runs, old)
    _erase_messages(db, runs, redactor)
    checkpoints = erase_checkpoints(db, runs[0].thread, redactor)
    return Redacted(changed, len(old), checkpoints)


def _new_name(secret: bytes, digest: str) -> str:
    """Return what a digest is called from now on; nobody can compute it who does not have the secret."""
    return hmac.new(secret, digest.encode(), sha256).hexdigest()[: 2 * NAME_BYTES]


def _erasure(transcript: Transcript, database: str, value: str, secret: bytes) -> Erasure:
    if fault := fault_of(transcript.run, transcript.rows, transcript.written):
        raise LedgerCorruptError(database, transcript.run, fault.seq, fault.why)
    try:
        return erasure_of(transcript, value, secret)
    except Unredactable as error:
        raise InputError("value", f"it cannot be taken out: {error}") from error


def _told(erasure: Erasure, by: str, reason: str) -> dict[str, object]:
    left = [{"seq": seq, "digest": payload_digest(b"", row.payload).hex()} for seq, row in erasure.rows.items()]
    return {"left": left, "by": by, "reason": erasure.redactor.text(reason)}


def _write(db: sqlite3.Connection, writer: EventWriter, run: RunKey, erasure: Erasure, redacted: Draft) -> None:
    run_id = run_id_of(db, run)
    query = "UPDATE ledger_events SET payload = ?, salt = ? WHERE run = ? AND seq = ?"
    changed = [(stored_payload(row.kind, row.payload), row.salt, run_id, seq) for seq, row in erasure.rows.items()]
    db.executemany(query, changed)
    writer.index.forget(db, run_id)
    writer.write(db, run, run_id, [redacted])


def _artifacts(transcript: Transcript, redactor: Redactor) -> dict[str, tuple[Artifact, str]]:
    """Return old id -> the artifact that takes its place and its content, for those that hold the value."""
    found = {}
    for old, content in transcript.artifacts.items():
        text = compact_json(redactor.json(json.loads(content)))
        if text != content:
            data = text.encode()
            found[old] = (Artifact(sha256(data).hexdigest(), len(data), text[:PREVIEW_CHARACTERS]), text)
    return found


def _replace_artifacts(db: sqlite3.Connection, runs: list[RunKey], old: Mapping[str, tuple[Artifact, str]]) -> None:
    """Put the new artifacts in the place of the old; one that a run of another thread names stays beside it."""
    new = [(artifact.id, text) for artifact, text in old.values()]
    db.executemany("INSERT OR IGNORE INTO ledger_artifacts VALUES (?, ?)", new)
    for name in old:
        query = (
            "SELECT 1 FROM ledger_events JOIN ledger_runs ON ledger_runs.id = run "
            f"WHERE thread != ? AND instr({UNPACKED.format('payload')}, ?) LIMIT 1"
        )
        if db.execute(query, (runs[0].thread, name)).fetchone() is None:
            db.execute("DELETE FROM ledger_artifacts WHERE id = ?", (name,))


def _erase_messages(db: sqlite3.Connection, runs: list[RunKey], redactor: Redactor) -> None:
    """Take the value out of messages that nobody has read yet."""
    for run in runs:
        found = db.execute("SELECT id, message FROM ledger_inbox WHERE run = ?", (run_id_of(db, run),)).fetchall()
        changed = [(redactor.text(message), number) for number, message in found]
        db.executemany("UPDATE ledger_inbox SET message = ? WHERE id = ?", changed)


def _check(before: list[Event], after: list[Event]) -> None:
    """Refuse a redaction after which the run could not be read, or its plans would name other steps and tools."""
    try:
        project(after)
        same = [_named(event) for event in before] == [_named(event) for event in after]
    except (ValidationError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise Unredactable("it is a word that the record cannot be read without") from error
    if not same:
        raise Unredactable("it stands in the name of a step or a tool")


def _named(event: Event) -> list[tuple[str, tuple[str, ...]]]:
    if event.kind != "plan_revised":
        return []
    return [(step.id, step.tool_names) for step in Plan.model_validate(event.payload["plan"]).steps]
