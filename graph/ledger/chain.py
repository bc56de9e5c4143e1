"""The hash chain of a run: each event's hash covers the one before it.

The chain runs over the salted digest of a payload, not the payload, so that a value can be redacted later and the
chain still be verified; the salt keeps a redacted value from being guessed.
"""

import hashlib
import json
from dataclasses import dataclass

SALT_BYTES = 16


def first_link(run: str) -> bytes:
    """Return what the first event of a run is chained to."""
    return hashlib.sha256(b"planner-executor ledger 1\0" + run.encode()).digest()


def payload_digest(salt: bytes, payload: str) -> bytes:
    """Return the digest that the chain covers in place of the payload."""
    return hashlib.sha256(salt + payload.encode()).digest()


@dataclass(frozen=True)
class Row:
    """An event as it is stored; `payload` is JSON text, `at` is in Unix seconds."""

    seq: int
    kind: str
    step: str | None
    at: float
    payload: str
    salt: bytes
    digest: bytes
    link: bytes

    def is_whole(self, before: bytes) -> bool:
        """Whether it is what was written after the row whose hash is `before`; SQLite keeps any type in any column."""
        if not (isinstance(self.payload, str) and isinstance(self.salt, bytes) and isinstance(self.digest, bytes)):
            return False
        expected = link(before, self.seq, self.kind, self.step, self.at, self.digest)
        return self.digest == payload_digest(self.salt, self.payload) and self.link == expected


def link(before: bytes, seq: int, kind: str, step: str | None, at: float, digest: bytes) -> bytes:
    """Return the hash of an event."""
    head = json.dumps([seq, kind, step, at], ensure_ascii=False)
    return hashlib.sha256(before + head.encode() + b"\0" + digest).digest()
