"""The checks before an event is written: what is refused, by which error, and what passes."""

import pytest

from planner_executor.graph.errors import (
    LeaseLostError,
    LedgerCorruptError,
    LedgerSealError,
    MessageWaitingError,
    StaleRunError,
)
from planner_executor.graph.ledger.lease import Holder
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.refusals import check_control_seq, check_end, check_inbox, check_lease, lost_artifact
from planner_executor.graph.ledger.seal import SealKey, Standing, standing_after
from planner_executor.graph.record.run_key import RunKey

RUN = RunKey("t", 1)
KEY = SealKey(b"a secret of many letters")
LINK = b"link"


def test_only_the_lease_in_force_may_write() -> None:
    check_lease("db", Lease(RUN, 1, 2), Holder("me", 2))
    with pytest.raises(LeaseLostError):
        check_lease("db", Lease(RUN, 1, 1), Holder("me", 2))


def test_an_author_has_to_know_the_last_decision() -> None:
    check_control_seq("db", RUN, 4, 4)
    with pytest.raises(StaleRunError):
        check_control_seq("db", RUN, 4, 5)


def test_messages_come_first() -> None:
    check_inbox("db", RUN, has_messages=False)
    with pytest.raises(MessageWaitingError):
        check_inbox("db", RUN, has_messages=True)


def test_nothing_is_written_in_place_of_what_is_missing() -> None:
    check_end("db", RUN, 3, LINK, Standing(3), None)
    check_end("db", RUN, 0, LINK, Standing(), KEY)
    with pytest.raises(LedgerCorruptError) as missing:
        check_end("db", RUN, 3, LINK, Standing(5), None)
    assert missing.value.seq == 4


def test_a_sealed_run_is_continued_with_its_key_only() -> None:
    sealed = standing_after(3, LINK, KEY)

    check_end("db", RUN, 3, LINK, sealed, KEY)
    for link, standing, key in ((LINK, sealed, None), (LINK, Standing(3), KEY), (b"another", sealed, KEY)):
        with pytest.raises(LedgerSealError):
            check_end("db", RUN, 3, link, standing, key)


def test_an_artifact_that_is_lost_belongs_to_no_event() -> None:
    assert lost_artifact("db", "id").seq == 0
