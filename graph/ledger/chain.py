"""The hash chain of a run: each event's hash covers the one before it.

The chain runs over the salted digest of a payload, not the payload, so that a value can be redacted later and the
chain still be verified; the salt keeps a redacted value from being guessed. A redacted event has lost its salt, and a
later event `redacted` holds the digest of the payload that stands in its place.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from planner_executor.graph.plan.json_writer import json_writer
from planner_executor.graph.record.events import ValueRedacted

SALT_BYTES = 16
REDACTED = ValueRedacted.kind
"""Kind of the events that hold the digests of redacted payloads."""

_head = json_writer()


def first_link(run: str) -> bytes:
    """Return the hash that the first event of a run is chained to."""
    return hashlib.sha256(b"planner-executor ledger 1\0" + run.encode()).digest()


def payload_digest(salt: bytes, payload: str) -> bytes:
    """Return the digest that the chain covers in place of the payload."""
    return hashlib.sha256(salt + payload.encode("utf-8", "surrogateescape")).digest()


class Row(NamedTuple):
    """An event as stored; `payload` is JSON text, `at` is in Unix seconds, an empty salt marks a redacted payload."""

    seq: int
    kind: str
    step: str | None
    at: float
    payload: str
    salt: bytes
    digest: bytes
    link: bytes

    @property
    def is_redacted(self) -> bool:
        """Whether the original payload was replaced."""
        return self.salt == b""

    def is_whole(self, before: bytes, bound: str | None) -> bool:
        """Whether the row is unchanged since it was chained to the row whose hash is `before`.

        Args:
            before: Hash of the previous row.
            bound: Digest of the replacement payload, recorded by a later redaction.
        """
        # Types are checked first: SQLite stores any type in any column, so a tampered cell may hold bytes or a number.
        texts = isinstance(self.kind, str) and isinstance(self.step, str | None) and isinstance(self.payload, str)
        if not (
            texts and isinstance(self.at, float) and isinstance(self.salt, bytes) and isinstance(self.digest, bytes)
        ):
            return False
        payload = payload_digest(self.salt, self.payload)
        # A redacted payload no longer matches its own digest; it must match the one its `redacted` event recorded,
        # or anybody could replace a payload by emptying its salt (docs/decisions/0017-redaction.md).
        is_payload = payload.hex() == bound if self.is_redacted else payload == self.digest
        return is_payload and self.link == link(before, self.seq, self.kind, self.step, self.at, self.digest)


COLUMNS = ", ".join(Row._fields)
"""The columns of a row in the tables of events and of standing approvals."""


class Fault(NamedTuple):
    """The first damaged event of a run."""

    seq: int
    why: str


def link(before: bytes, seq: int, kind: str, step: str | None, at: float, digest: bytes) -> bytes:
    """Return the hash of an event."""
    head = _head([seq, kind, step, at]).encode("utf-8", "surrogateescape")
    return hashlib.sha256(before + head + b"\0" + digest).digest()


def fault_of(run: str, rows: Sequence[Row], written: int, after: int = 0) -> Fault | None:
    """Return the first fault in the rows of a run, or None if they are intact.

    Args:
        run: Name of the run; its first event is chained to it.
        rows: Rows from the `after`-th on, by sequence number; the `after`-th itself is not checked.
        written: Number of events ever written.
        after: Number of leading events to skip.
    """
    before, bound = first_link(run), _replacement_digests(rows)
    for place, row in enumerate(rows, max(after, 1)):
        if row.seq != place:
            return Fault(place, "is missing")
        if row.seq > after and not row.is_whole(before, bound.get(row.seq)):
            return Fault(place, "was changed")
        before = row.link
    # The chain alone cannot detect a cut-off end or an appended event; the count kept with the run can.
    last = rows[-1].seq if rows else 0
    if last < max(written, after):
        return Fault(last + 1, "is missing")
    return Fault(written + 1, "was added") if last > max(written, after) else None


def _replacement_digests(rows: Sequence[Row]) -> Mapping[int, str]:
    """Return sequence number -> digest of the payload that the last redaction put there."""
    found: dict[int, str] = {}
    for row in rows:
        if row.kind == REDACTED and isinstance(row.payload, str):
            with suppress(ValueError, KeyError, TypeError, RecursionError):  # a damaged row: its own check reports it
                found.update((entry["seq"], entry["digest"]) for entry in json.loads(row.payload)["left"])
    return found
