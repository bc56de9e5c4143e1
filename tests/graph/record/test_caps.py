"""Caps across runs as values: where a day ends, when a turn comes, and what both are called."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from planner_executor.graph.record.caps import DayCap, RateCap

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("now", "end"),
    [
        (datetime(2026, 3, 28, 23, 59, tzinfo=BERLIN), datetime(2026, 3, 29, tzinfo=BERLIN)),
        (datetime(2026, 3, 29, 0, 0, tzinfo=BERLIN), datetime(2026, 3, 30, tzinfo=BERLIN)),
        (datetime(2026, 12, 31, 12, 0, tzinfo=BERLIN), datetime(2027, 1, 1, tzinfo=BERLIN)),
    ],
    ids=["before midnight", "a day of 23 hours", "the last of a year"],
)
def test_a_day_ends_at_the_next_midnight_of_its_zone(now: datetime, end: datetime) -> None:
    assert DayCap("tool_calls", 1, time_zone="Europe/Berlin").until(now.timestamp()) == end.timestamp()


@pytest.mark.parametrize(("last", "wait_s"), [(None, 0.0), (90.0, 0.0), (95.0, 5.0), (100.0, 10.0), (100.5, 0.0)])
def test_a_turn_comes_an_interval_after_the_last_one_unless_that_lies_ahead(last: float | None, wait_s: float) -> None:
    assert RateCap("fetch", 10.0).wait_s(last, 100.0) == wait_s


@pytest.mark.parametrize(
    ("interval_s", "words"),
    [
        (0.2, "at most 5 calls of send a second"),
        (1.0, "at most 1 call of send a second"),
        (1.5, "at most 40 calls of send a minute"),
        (7.0, "at most 8.571 calls of send a minute"),
        (36.0, "at most 100 calls of send an hour"),
        (60.0, "at most 1 call of send a minute"),
        (1_800.0, "at most 2 calls of send an hour"),
        (7_200.0, "at most 0.5 calls of send an hour"),
        (10_800.0, "at most 0.333 calls of send an hour"),
    ],
)
def test_a_rate_is_named_in_the_smallest_unit_with_a_whole_call(interval_s: float, words: str) -> None:
    assert str(RateCap("send", interval_s)) == words


def test_a_cap_of_a_day_says_whether_it_is_one_for_each_user() -> None:
    assert [str(DayCap("tokens", 5.0, user)) for user in ("", "unverified")] == [
        "at most 5 tokens a day",
        "at most 5 tokens a day for each user",
    ]
