"""The table of leases, one row per run; `graph.ledger.lease` defines the rows, a server's clock their age.

Every change of a row is made with the run's row locked, so no event is written under a token that has been replaced.
"""

from collections.abc import Iterable

from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.lease import Holder, claimed, released, set_aside, taken_over
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.tables.dialect import either
from planner_executor.graph.ledger.tables.transaction import Transaction

_BEAT_AT = either("", ", beat_at")
_PUT = f"""INSERT INTO ledger_leases (run, owner, token, beat{_BEAT_AT})
    VALUES (%s, %s, %s, %s{either("", ", clock_timestamp()")}) ON CONFLICT (run) DO UPDATE
    SET owner = excluded.owner, token = excluded.token, beat = excluded.beat
    {either("", ", beat_at = excluded.beat_at")}"""
_BEAT = either(
    "UPDATE ledger_leases SET beat = beat + 1 WHERE (run, token) = {}",
    """UPDATE ledger_leases SET beat = beat + 1, beat_at = clock_timestamp()
    FROM (VALUES {}) AS held (held_run, held_token) WHERE run = held_run AND token = held_token""",
)


def claim(tx: Transaction, head: Head, owner: str, lease_s: float) -> Lease | Holder:
    """Take a run that is free, or whose owner was silent for `lease_s` seconds; or return its current row."""
    taken = _put(tx, head, _claimed(head, owner, lease_s)) or head.holder
    assert taken is not None  # a run without a row is free
    return taken


def pass_over(tx: Transaction, head: Head, lease_s: float) -> bool:
    """Leave a run free under a new token if it could be taken, for what one transaction writes without a lease."""
    return _put(tx, head, _claimed(head, "", lease_s)) is not None


def take_over(tx: Transaction, head: Head, owner: str, seen: Holder) -> Lease | None:
    """Take a run if its row is unchanged, or return None."""
    return _put(tx, head, taken_over(head.holder, seen, owner))


def free(tx: Transaction, head: Head, seen: Holder | None) -> bool:
    """Leave a run free under a new token if its row is as it was seen."""
    return _put(tx, head, set_aside(head.holder, seen)) is not None


def release(tx: Transaction, head: Head, token: int) -> None:
    """Let go of a run; one that was taken over stays with its new owner."""
    _put(tx, head, released(head.holder, token))


def disown(tx: Transaction, owner: str) -> None:
    """Release every run of an owner that never received its token."""
    # The run's row needs no lock: nobody received this token, so nothing can be written under it.
    tx.tell("UPDATE ledger_leases SET owner = '' WHERE owner = %s", owner)


def beat(tx: Transaction, leases: Iterable[Lease]) -> None:
    """Show that the owners are alive; rows are locked in one order, or two processes would wait for each other."""
    tx.tell_rows(_BEAT, sorted((lease.run_id, lease.token) for lease in leases))


def _claimed(head: Head, owner: str, lease_s: float) -> Holder | None:
    # A server has timed the last heartbeat, so that nobody has to watch for the next one.
    if head.holder is not None and head.silent_s > lease_s:
        return taken_over(head.holder, head.holder, owner)
    return claimed(head.holder, owner)


def _put(tx: Transaction, head: Head, row: Holder | None) -> Lease | None:
    if row is None:  # the rules of `graph.ledger.lease` allow no change
        return None
    tx.tell(_PUT, head.run_id, row.owner, row.token, row.beat)
    return Lease(head.run, head.run_id, row.token)
