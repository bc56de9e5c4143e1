"""The checks before an event is written, and their errors.

A driver runs them in the transaction of the events, in this order: the lease, the control events that the author has
seen, the inbox, the end of the run. Each raises before anything is written.
"""

from typing import TYPE_CHECKING

from planner_executor.graph.errors import (
    InputError,
    LeaseLostError,
    LedgerCorruptError,
    LedgerSealError,
    LedgerUnavailableError,
    MessageWaitingError,
    StaleRunError,
)
from planner_executor.graph.ledger.lease import Holder, is_in_force
from planner_executor.graph.ledger.seal import SealKey, Standing, seal_fault
from planner_executor.graph.record.run_key import RunKey

if TYPE_CHECKING:
    from planner_executor.graph.ledger.protocol import Lease


def check_lease(database: str, lease: "Lease", now: Holder | None) -> None:
    """Refuse events under an outdated lease.

    Raises:
        LeaseLostError: The token is outdated, or the lease was released.
    """
    if not is_in_force(now, lease.token):
        raise LeaseLostError(database, lease.run.id)


def check_control_seq(database: str, run: RunKey, seen: int | None, now: int) -> None:
    """Refuse events of an author whose last known event in `CONTROL` is not the run's last one; None skips the check.

    Raises:
        StaleRunError: The numbers differ.
    """
    if seen not in (None, now):
        raise StaleRunError(database, run.id)


def check_inbox(database: str, run: RunKey, has_messages: bool) -> None:
    """Refuse events while messages wait in the inbox.

    Raises:
        MessageWaitingError: A message waits.
    """
    if has_messages:
        raise MessageWaitingError(database, run.id)


def check_end(database: str, run: RunKey, seq: int, link: bytes, standing: Standing, key: SealKey | None) -> None:
    """Refuse events after a cut-off end: an event written in place of a missing one would hide the loss.

    Args:
        database: Name of the database in messages.
        run: The run.
        seq: Sequence number of the last event present.
        link: Its hash.
        standing: Number of events ever written, and their seal.
        key: The ledger's key.

    Raises:
        LedgerCorruptError: The last events are missing.
        LedgerSealError: The run is not sealed with this key.
    """
    if seq < standing.events:
        raise LedgerCorruptError(database, run.id, seq + 1, "is missing")
    if seq and (fault := seal_fault(key, standing.key, standing.seal, link)):
        raise LedgerSealError(database, run.id, fault)


def lost_artifact(database: str, artifact_id: str) -> LedgerCorruptError:
    """Return the error for an artifact that is missing or changed."""
    return LedgerCorruptError(database, "(any)", 0, f"names artifact {artifact_id}, which is lost or changed")


def damaged_row(database: str, what: str) -> LedgerUnavailableError:
    """Return the error for a row that holds what no program writes there; a server's columns do not take it."""
    return LedgerUnavailableError(database, f"{what} was changed; restore the file from a backup")


def thread_is_there(database: str, thread: str) -> InputError:
    """Return the error for a copy of a thread that the database already has, or had."""
    return InputError("target", f"{database} has or had thread {thread}; copy it to another database")
