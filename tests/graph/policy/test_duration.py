"""Durations as a policy writes them, and as people read them."""

from typing import Any

import pytest

from planner_executor.graph.policy.duration import fits_a_year, in_words, seconds_in, written


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30), ("90m", 5_400), ("24h", 86_400), ("2d", 172_800), ("1w", 604_800), ("1.5m", 90), ("1 h", 3_600),
        ("0h", None), ("h", None), ("1", None), ("-1h", None), ("1y", None), ("1h30m", None), ("1234567890s", None),
        ("", None), (60, None), (None, None),
    ],
)  # fmt: skip
def test_a_duration_is_a_number_with_a_unit(text: Any, seconds: float | None) -> None:
    assert seconds_in(text) == seconds


@pytest.mark.parametrize(
    ("seconds", "text", "words"),
    [
        (604_800, "1w", "1 week"), (86_400, "1d", "1 day"), (172_800, "2d", "2 days"), (3_600, "1h", "1 hour"),
        (5_400, "90m", "90 minutes"), (60, "1m", "1 minute"), (10, "10s", "10 seconds"), (1, "1s", "1 second"),
        (0.25, "0.25s", "0.25 seconds"), (1.5, "1.5s", "1.5 seconds"),
    ],
)  # fmt: skip
def test_a_duration_is_written_in_its_largest_unit_and_read_again(seconds: float, text: str, words: str) -> None:
    assert (written(seconds), in_words(seconds), seconds_in(text)) == (text, words, seconds)


@pytest.mark.parametrize(
    ("seconds", "fits"), [(366 * 86_400, True), (366 * 86_400 + 1, False), (1, True), (None, False)]
)
def test_a_policy_may_have_durations_of_at_most_a_year(seconds: float | None, fits: bool) -> None:
    assert fits_a_year(seconds) == fits
