"""Who owns a run, decided on rows: claims, takeovers, fencing, and a challenger's watch."""

import pytest

from planner_executor.graph.ledger.lease import (
    BEAT_S,
    LEASE_S,
    Holder,
    Watch,
    claimed,
    is_in_force,
    released,
    set_aside,
    taken_over,
)

MINE, FREE = Holder("me", 3, 5), Holder("", 3, 5)


def test_a_run_is_claimed_under_the_next_token_if_nobody_owns_it() -> None:
    assert claimed(None, "you") == Holder("you", 1, beat=0)
    assert claimed(FREE, "you") == Holder("you", 4)
    assert claimed(MINE, "you") is None


@pytest.mark.parametrize("now", [MINE, FREE])
def test_a_run_whose_row_stood_still_is_taken_over_be_it_free_by_now_or_not(now: Holder) -> None:
    assert taken_over(now, MINE, "you") == Holder("you", 4)


@pytest.mark.parametrize(
    ("now", "seen", "row"),
    [
        (None, None, Holder("", 1)),
        (MINE, MINE, Holder("", 4)),
        (FREE, MINE, Holder("", 4)),
        (MINE, None, None),
        (None, MINE, None),
        (Holder("me", 4, 5), MINE, None),
    ],
)
def test_a_run_is_set_aside_if_it_is_as_it_was_seen(
    now: Holder | None, seen: Holder | None, row: Holder | None
) -> None:
    assert set_aside(now, seen) == row


@pytest.mark.parametrize("now", [None, Holder("me", 4, 5), Holder("me", 3, 6)])
def test_an_owner_who_moved_is_not_taken_over(now: Holder | None) -> None:
    assert taken_over(now, MINE, "you") is None


def test_an_owner_gives_back_what_is_still_its_own() -> None:
    assert released(MINE, 3) == FREE
    assert released(MINE, 2) is None and released(None, 1) is None


@pytest.mark.parametrize(
    ("now", "token", "holds"), [(MINE, 3, True), (MINE, 2, False), (FREE, 3, False), (None, 0, False)]
)
def test_only_the_last_token_is_in_force_and_only_until_it_is_given_back(
    now: Holder | None, token: int, holds: bool
) -> None:
    assert is_in_force(now, token) is holds


@pytest.mark.parametrize(
    ("now", "now_s", "verdict"),
    [
        (FREE, 0.0, "free"),
        (FREE, 99.0, "free"),
        (None, 0.0, "alive"),
        (Holder("me", 3, 6), 99.0, "alive"),
        (Holder("you", 4, 5), 99.0, "alive"),
        (MINE, 9.9, "watching"),
        (MINE, 10.0, "dead"),
    ],
)
def test_a_challenger_judges_by_its_own_clock_and_the_owners_heart(
    now: Holder | None, now_s: float, verdict: str
) -> None:
    assert Watch(MINE, until_s=10.0).verdict(now, now_s) == verdict


def test_an_owner_beats_several_times_before_it_can_be_taken_over() -> None:
    assert 3 * BEAT_S < LEASE_S < 15
