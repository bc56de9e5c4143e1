"""The seal of a run: with the key, a rewritten record or a cut-off end can be detected.

The seal is a keyed hash (HMAC-SHA-256) of the last link of the chain, replaced in the transaction of every event. Only
the key's id is stored, never the key.
"""

import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from planner_executor.graph.errors import LedgerKeyError
from planner_executor.graph.words.name_list import counted

VARIABLE, FILE_VARIABLE = "PLANNER_EXECUTOR_LEDGER_KEY", "PLANNER_EXECUTOR_LEDGER_KEY_FILE"
LEAST_BYTES = 16
ID_CHARACTERS = 16


@dataclass(frozen=True)
class SealKey:
    """A secret of at least 16 bytes."""

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) < LEAST_BYTES:
            raise LedgerKeyError(
                f"it has {counted(len(self.secret), 'byte')}, at least {LEAST_BYTES} are needed; use random bytes"
            )

    @property
    def id(self) -> str:
        """A public identifier of the key."""
        return hmac.digest(self.secret, b"planner-executor key id 1", "sha256").hex()[:ID_CHARACTERS]

    def seal(self, link: bytes) -> bytes:
        """Return the seal of a run whose last event has this hash."""
        return hmac.digest(self.secret, b"planner-executor seal 1\0" + link, "sha256")

    def fits(self, link: bytes, seal: bytes | None) -> bool:
        """Whether the seal was made with this key for a run with this last hash."""
        return isinstance(seal, bytes) and hmac.compare_digest(self.seal(link), seal)


class Standing(NamedTuple):
    """The number of events ever written for a run, the id of its seal's key, and the seal."""

    events: int = 0
    key: str | None = None
    seal: bytes | None = None


def standing_after(seq: int, link: bytes, key: SealKey | None) -> Standing:
    """Return the standing of a run whose last event has this number and this hash."""
    return Standing(seq, key.id, key.seal(link)) if key is not None else Standing(seq)


def seal_fault(key: SealKey | None, key_id: str | None, seal: bytes | None, link: bytes) -> str | None:
    """Return the reason why a run cannot be continued with this key (or without one), or None if it can.

    Args:
        key: The ledger's key.
        key_id: Id of the key that sealed the run, None for an unsealed run.
        seal: The run's seal.
        link: Hash of its last event.
    """
    if key is None:
        return f"is sealed with the key {key_id}; set {VARIABLE} or {FILE_VARIABLE}" if key_id or seal else None
    # Who has no key can take a seal off, but must not pass for somebody who never had one.
    if key_id is None:
        return f"is not sealed; it was begun without a key, or its seal was removed: go on without {VARIABLE}"
    if key_id != key.id:
        return f"is sealed with the key {key_id}, not with {key.id}"
    if not key.fits(link, seal):
        return "has a seal that does not fit its last event: its record was written anew, or its end was cut off"
    return None


def key_from_environment(environment: Mapping[str, str] | None = None) -> SealKey | None:
    """Return the key from the environment (a value or a file's path), or None if there is none.

    Raises:
        LedgerKeyError: The key is too short, its file cannot be read, or there are two of them.
    """
    given = os.environ if environment is None else environment
    text, file = given.get(VARIABLE), given.get(FILE_VARIABLE)
    if text and file:
        raise LedgerKeyError(f"{VARIABLE} and {FILE_VARIABLE} are both set; set one of them")
    return key_from_file(Path(file)) if file else SealKey(text.strip().encode()) if text else None


def key_from_file(path: Path) -> SealKey:
    """Return the key in a file, without surrounding white space.

    Raises:
        LedgerKeyError: The file cannot be read, or the key is too short.
    """
    try:
        return SealKey(path.read_bytes().strip())
    except OSError as error:
        raise LedgerKeyError(f"{path}: {error.strerror or error}") from error
