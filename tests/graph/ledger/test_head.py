"""The one look at a run before its events are written: whatever is outdated is refused."""

from typing import Any

import pytest

from planner_executor.graph.errors import LeaseLostError, MessageWaitingError, StaleRunError
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.lease import Holder
from planner_executor.graph.ledger.owner import new_owner, retire
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.seal import Standing
from planner_executor.graph.record.run_key import RunKey

LEASE = Lease(RunKey("t", 1), 1, 2)
HEAD = Head(LEASE.run, 7, Standing(4), 4, b"link", Holder("me", 2), has_messages=True, control_seq=3)


def test_an_owner_that_knows_the_last_decision_may_write_and_need_not_read_its_messages() -> None:
    HEAD.check("db", LEASE)
    HEAD.check("db", LEASE, control_seq=3)
    HEAD._replace(has_messages=False).check("db", LEASE, 3, require_empty_inbox=True)
    HEAD._replace(control_seq=0).check("db", LEASE, control_seq=0)


@pytest.mark.parametrize(
    ("lease", "known", "error"),
    [
        (LEASE._replace(token=1), {}, LeaseLostError),
        (LEASE, {"control_seq": 2}, StaleRunError),
        (LEASE, {"control_seq": 0}, StaleRunError),
        (LEASE, {"require_empty_inbox": True}, MessageWaitingError),
    ],
    ids=["another owner", "a later decision", "no decision known", "a message"],
)
def test_whoever_is_outdated_writes_nothing(lease: Lease, known: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        HEAD.check("db", lease, **known)


def retired() -> str:
    owner = new_owner()
    retire(owner)
    return owner


@pytest.mark.parametrize(
    ("holder", "silent_s", "is_worked_on"),
    [
        (Holder("me", 2), 0.0, True),
        (Holder("me", 2), 30.0, True),
        (Holder("me", 2), 30.5, False),
        (Holder(retired(), 2), 0.0, False),
        (None, 0.0, False),
    ],
    ids=["alive", "heard of just in time", "silent for too long", "known to be dead", "nobody"],
)
def test_a_run_is_worked_on_while_its_owner_may_live(
    holder: Holder | None, silent_s: float, is_worked_on: bool
) -> None:
    assert HEAD._replace(holder=holder, silent_s=silent_s).is_worked_on(30.0) is is_worked_on
