"""The seal of a run: who has the key can tell that its record was not written anew, nor its end cut off.

The seal is a keyed hash over the last link of the chain, replaced in the transaction of every event. Only the key's id
is kept, never the key.
"""

import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from graph.errors import LedgerKeyError

VARIABLE, FILE_VARIABLE = "PLANNER_EXECUTOR_LEDGER_KEY", "PLANNER_EXECUTOR_LEDGER_KEY_FILE"
LEAST_BYTES = 16
ID_CHARACTERS = 16


@dataclass(frozen=True)
class SealKey:
    """A secret of at least 16 bytes."""

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) < LEAST_BYTES:
            raise LedgerKeyError(f"it has {len(self.secret)} bytes and needs {LEAST_BYTES} at least; make it at random")

    @property
    def id(self) -> str:
        """What tells this key from others."""
        return hmac.digest(self.secret, b"planner-executor key id 1", "sha256").hex()[:ID_CHARACTERS]

    def seal(self, link: bytes) -> bytes:
        """Return the seal of a run whose last event has this hash."""
        return hmac.digest(self.secret, b"planner-executor seal 1\0" + link, "sha256")

    def fits(self, link: bytes, seal: bytes) -> bool:
        """Whether the seal was made with this key for just this end of a run."""
        return isinstance(seal, bytes) and hmac.compare_digest(self.seal(link), seal)


def seal_fault(key: SealKey | None, key_id: str | None, seal: bytes | None, link: bytes) -> str | None:
    """Return why a run may not be written on with a key (or without one), None where it may.

    Args:
        key: The key at hand.
        key_id: The id of the key that the run is sealed with, None where it is not.
        seal: Its seal.
        link: The hash of its last event.
    """
    if key is None:
        return f"is sealed with the key {key_id}; set {VARIABLE} or {FILE_VARIABLE}" if key_id or seal else None
    if key_id is None:
        return f"is not sealed; it was begun without a key, or its seal was removed: go on without {VARIABLE}"
    if key_id != key.id:
        return f"is sealed with the key {key_id}, not with {key.id}"
    if seal is None or not key.fits(link, seal):
        return "has a seal that does not fit its last event: its record was written anew, or its end was cut off"
    return None


def key_from_environment(environment: Mapping[str, str] | None = None) -> SealKey | None:
    """Return the key that the environment holds or names a file for, None where it does neither.

    Raises:
        LedgerKeyError: The key is too short, its file cannot be read, or there are two of them.
    """
    given = os.environ if environment is None else environment
    text, file = given.get(VARIABLE), given.get(FILE_VARIABLE)
    if text and file:
        raise LedgerKeyError(f"{VARIABLE} and {FILE_VARIABLE} are both set; set one of them")
    return key_from_file(Path(file)) if file else SealKey(text.strip().encode()) if text else None


def key_from_file(path: Path) -> SealKey:
    """Return the key in a file, white space around it left out.

    Raises:
        LedgerKeyError: The file cannot be read, or the key is too short.
    """
    try:
        return SealKey(path.read_bytes().strip())
    except OSError as error:
        raise LedgerKeyError(f"{path}: {error.strerror or error}") from error
