"""The one look at a run before its events are written: whatever is outdated is refused."""

from typing import Any

import pytest

from planner_executor.graph.errors import LeaseLostError, MessageWaitingError, StaleRunError
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.lease import Holder
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
