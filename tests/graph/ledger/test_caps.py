"""The rules of caps across runs that every driver follows."""

import pytest

from planner_executor.graph.errors import CapReachedError
from planner_executor.graph.ledger.caps import KEPT_S, check_day, check_turn, corrected
from planner_executor.graph.record.caps import DayCap, RateCap

SENDS, FETCHES = DayCap("calls.send", 3), RateCap("fetch", 10.0)


def test_a_call_up_to_the_cap_of_a_day_is_allowed_and_none_beyond() -> None:
    check_day("db", SENDS, 2.0, 1.0, 86_300.0)
    with pytest.raises(CapReachedError) as refused:
        check_day("db", SENDS, 3.0, 1.0, 86_300.0)

    reached = refused.value
    assert (reached.cap, reached.words, reached.wait_s, reached.is_rate) == ("calls.send", str(SENDS), 100.0, False)


def test_a_day_is_kept_for_three_more() -> None:
    assert KEPT_S == 3 * 24 * 60 * 60


def test_a_call_whose_turn_is_now_is_allowed_and_none_before() -> None:
    check_turn("db", FETCHES, 0.0)
    with pytest.raises(CapReachedError) as refused:
        check_turn("db", FETCHES, 0.5)

    reached = refused.value
    assert (reached.cap, reached.words, reached.wait_s, reached.is_rate) == ("fetch", str(FETCHES), 0.5, True)


@pytest.mark.parametrize(("more", "counts"), [(-1.0, 4.0), (-9.0, 0.0), (2.5, 7.5)])
def test_a_correction_changes_what_counts_but_never_below_nothing(more: float, counts: float) -> None:
    assert corrected(5.0, {"tokens": more}, "tokens") == counts
    assert corrected(5.0, {"cost_usd": more}, "tokens") == 5.0


def test_three_tenths_of_a_dollar_fit_into_a_cap_of_thirty_cents() -> None:
    cap = DayCap("cost_usd", 0.3)
    check_day("db", cap, 0.1 + 0.1, 0.1, 86_300.0)
    with pytest.raises(CapReachedError):
        check_day("db", cap, 0.1 + 0.1, 0.100001, 86_300.0)
