"""Why a ledger does not write: the checks before an event, and their errors.

A driver makes them in the transaction of the events, in this order: the lease, the control events that the author has
seen, the inbox, the end of the run. Each raises before anything is written.
"""

from typing import NamedTuple

from graph.errors import (
    LeaseLostError,
    LedgerCorruptError,
    LedgerError,
    LedgerSealError,
    LedgerUnavailableError,
    MessageWaitingError,
    RunOwnedError,
    StaleRunError,
)
from graph.ledger.lease import Holder, is_in_force
from graph.ledger.protocol import Lease, RunKey
from graph.ledger.seal import SealKey, seal_fault


class Standing(NamedTuple):
    """How many events were written for a run, the id of the key it is sealed with, and the seal."""

    events: int = 0
    key: str | None = None
    seal: bytes | None = None


def standing_after(seq: int, link: bytes, key: SealKey | None) -> Standing:
    """Return the standing of a run whose last event has this number and this hash."""
    return Standing(seq, key.id, key.seal(link)) if key is not None else Standing(seq)


def check_lease(database: str, lease: Lease, now: Holder | None) -> None:
    """Refuse events under an outdated lease.

    Raises:
        LeaseLostError: Its token is not the last one that was given out, or its owner has let go.
    """
    if not is_in_force(now, lease.token):
        raise LeaseLostError(database, lease.run.id)


def check_control_seq(database: str, run: RunKey, seen: int, now: int) -> None:
    """Refuse events of an author who has missed an event in `CONTROL`, or is told of one that is not there.

    Raises:
        StaleRunError: The last control event is another one than the author has seen.
    """
    if now != seen:
        raise StaleRunError(database, run.id)


def check_inbox(database: str, run: RunKey, has_messages: bool) -> None:
    """Refuse events of an author who heeds the inbox.

    Raises:
        MessageWaitingError: A message waits there.
    """
    if has_messages:
        raise MessageWaitingError(database, run.id)


def check_end(database: str, run: RunKey, seq: int, link: bytes, standing: Standing, key: SealKey | None) -> None:
    """Refuse events behind an end that is not the one that was written: another event in its place would hide the loss.

    Args:
        database: How messages call it.
        run: The run.
        seq: Sequence number of the last event that is there.
        link: Its hash.
        standing: How many events were written, and their seal.
        key: The key at hand.

    Raises:
        LedgerCorruptError: The last events are missing.
        LedgerSealError: The run is not sealed with this key.
    """
    if seq < standing.events:
        raise LedgerCorruptError(database, run.id, seq + 1, "is missing")
    if seq and (fault := seal_fault(key, standing.key, standing.seal, link)):
        raise LedgerSealError(database, run.id, fault)


def owned_elsewhere(database: str, run: RunKey) -> RunOwnedError:
    """Return the error for a run whose owner is alive."""
    return RunOwnedError(database, run.id)


def lost_artifact(database: str, artifact_id: str) -> LedgerCorruptError:
    """Return the error for an artifact that is not there, or not what was written."""
    return LedgerCorruptError(database, "(any)", 0, f"names artifact {artifact_id}, which is lost or changed")


def unknown_run(database: str, run: RunKey) -> LedgerUnavailableError:
    """Return the error for a run that is not in the ledger."""
    return LedgerUnavailableError(database, f"run {run.id} is not in the ledger")


def not_storable(database: str, error: ValueError) -> LedgerError:
    """Return the error for events that hold what no record can: half a surrogate pair, NaN."""
    return LedgerError(database, f"it cannot hold what is to be written: {error}")
