"""The changes of a redaction to the records of a thread, as values: events, artifacts, and the `redacted` event.

An event whose payload changes loses its salt and keeps its digest, so the chain still verifies; a `redacted` event
holds the digest of the new payload. See `docs/decisions/0017-redaction.md`.
"""

import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import NamedTuple

from pydantic import ValidationError

from planner_executor.graph.errors import InputError, LedgerCorruptError
from planner_executor.graph.ledger.chain import Row, fault_of, payload_digest
from planner_executor.graph.ledger.chaining import compact_json
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.artifacts import artifacts_named, with_artifacts
from planner_executor.graph.record.events import Draft, Event, LeftPayload, PlanRevised, ValueRedacted
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.redaction import Redactor, Unredactable, names_for, redacted_payload
from planner_executor.graph.record.values import PREVIEW_CHARACTERS, Artifact

NAME_BYTES = 8


class Erasure(NamedTuple):
    """The replacements in one run: rows by sequence number, artifacts by their old id."""

    rows: Mapping[int, Row]
    artifacts: Mapping[str, tuple[Artifact, str]]
    redactor: Redactor

    def redacted(self, by: str, reason: str) -> Draft:
        """Return the event that holds the digests of the new payloads."""
        left = (LeftPayload(seq, payload_digest(b"", row.payload).hex()) for seq, row in self.rows.items())
        return Draft(ValueRedacted(left=tuple(left), by=by, reason=self.redactor.text(reason)))


class ThreadErasure(NamedTuple):
    """The replacements in all runs of a thread, in order; `redactor` is for checkpoints, messages and the index."""

    runs: Sequence[Erasure]
    artifacts: Mapping[str, tuple[Artifact, str]]
    redactor: Redactor


def redactor_of(value: str) -> Redactor:
    """Return the redactor of a value.

    Raises:
        InputError: The value cannot be redacted.
    """
    try:
        return Redactor(value)
    except Unredactable as error:
        raise InputError("value", f"it cannot be taken out: {error}") from error


def thread_erasure(database: str, transcripts: Sequence[Transcript], value: str) -> ThreadErasure:
    """Return the replacements in all runs of a thread; a digest gets the same new name in each of them.

    Raises:
        InputError: The records cannot be read without the value.
        LedgerCorruptError: A record is damaged.
    """
    artifacts: dict[str, tuple[Artifact, str]] = {}
    names: dict[str, str] = {}
    # Kept nowhere: once it is gone nobody can make the new names again from a guess.
    runs, secret = [], secrets.token_bytes()
    for transcript in transcripts:
        runs.append(_checked_erasure(database, transcript, value, secret))
        artifacts.update(runs[-1].artifacts)
        names.update(runs[-1].redactor.names)
    return ThreadErasure(runs, artifacts, Redactor(value, names))


def _checked_erasure(database: str, transcript: Transcript, value: str, secret: bytes) -> Erasure:
    if fault := fault_of(transcript.run, transcript.rows, transcript.written):
        raise LedgerCorruptError(database, transcript.run, fault.seq, fault.why)
    try:
        return erasure_of(transcript, value, secret)
    except Unredactable as error:
        raise InputError("value", f"it cannot be taken out: {error}") from error


def erasure_of(transcript: Transcript, value: str, secret: bytes = b"") -> Erasure:
    """Return the replacements in a run; `secret` gives a digest the same name in all runs of a thread.

    Raises:
        Unredactable: The record cannot be read without the value.
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
            # The digest stays, which the chain covers; the empty salt marks that its payload is gone (decision 17).
            rows[row.seq] = row._replace(payload=payload, salt=b"")
    _check(events, replace(transcript, rows=[rows.get(row.seq, row) for row in transcript.rows]).events())
    return Erasure(rows, artifacts, redactor)


def _new_name(secret: bytes, digest: str) -> str:
    """Return the new name of a digest: keyed, so that a guess of the redacted value cannot be confirmed."""
    return hmac.new(secret, digest.encode(), sha256).hexdigest()[: 2 * NAME_BYTES]


def _artifacts(transcript: Transcript, redactor: Redactor) -> dict[str, tuple[Artifact, str]]:
    """Return old id -> the replacement artifact and its content, for artifacts that hold the value."""
    found = {}
    for old, content in transcript.artifacts.items():
        text = compact_json(redactor.json(json.loads(content)))
        if text != content:
            data = text.encode()
            found[old] = (Artifact(sha256(data).hexdigest(), len(data), text[:PREVIEW_CHARACTERS]), text)
    return found


def _check(before: list[Event], after: list[Event]) -> None:
    """Refuse a redaction that leaves the run unreadable or renames a step or tool of its plans."""
    try:
        project(after)
        same = [_named(event) for event in before] == [_named(event) for event in after]
    except (ValidationError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise Unredactable("it is a word that the record cannot be read without") from error
    if not same:
        raise Unredactable("it stands in the name of a step or a tool")


def _named(event: Event) -> list[tuple[str, tuple[str, ...]]]:
    if not isinstance(event.data, PlanRevised):
        return []
    return [(step.id, step.tool_names) for step in Plan.model_validate(event.data.plan).steps]
