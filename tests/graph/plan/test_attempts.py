"""Limits of attempts: the lowest holds, and waits grow up to a bound."""

from typing import Any

import pytest

from planner_executor.graph.plan.attempts import ATTEMPT_FIELDS, NO_LIMITS, AttemptLimits, limit_fault


@pytest.mark.parametrize(
    ("limits", "lowest"),
    [
        ([NO_LIMITS, NO_LIMITS], NO_LIMITS),
        ([NO_LIMITS, AttemptLimits(2.5, 3, 0.0)], AttemptLimits(2.5, 3, 0.0)),
        ([AttemptLimits(9, 2), AttemptLimits(5, 4), AttemptLimits(backoff_s=1)], AttemptLimits(5, 2, 1)),
    ],
)
def test_the_lowest_of_each_limit_holds(limits: list[AttemptLimits], lowest: AttemptLimits) -> None:
    assert limits[0].lowest(*limits[1:]) == lowest


def test_a_call_is_made_once_unless_said_otherwise() -> None:
    assert (NO_LIMITS.most, AttemptLimits(attempts=3).most) == (1, 3)


@pytest.mark.parametrize(
    ("limits", "failed", "jitter", "wait_s"),
    [
        (NO_LIMITS, 1, 1.0, 1.0),
        (NO_LIMITS, 1, 0.0, 0.5),
        (NO_LIMITS, 4, 0.5, 6.0),
        (AttemptLimits(backoff_s=0), 3, 1.0, 0.0),
        (AttemptLimits(backoff_s=16), 3, 1.0, 60.0),
        (AttemptLimits(backoff_s=14), 3, 1.0, 56.0),
        (NO_LIMITS, 5_000, 1.0, 60.0),
        (AttemptLimits(backoff_s=0), 5_000, 1.0, 0.0),
    ],
)
def test_the_wait_doubles_up_to_a_minute(limits: AttemptLimits, failed: int, jitter: float, wait_s: float) -> None:
    assert limits.wait_s(failed, jitter) == wait_s


@pytest.mark.parametrize(
    ("name", "fits", "faulty"),
    [
        ("attempts", [1, 20], [0, -1, True, 2.0, "2", None]),
        ("timeout_s", [0.1, 60], [0, -1, True, "2", None, float("nan"), float("inf")]),
        ("backoff_s", [0, 1.5], [-0.1, False, "2", None, float("inf")]),
    ],
)
def test_a_limit_is_a_number_that_makes_sense(name: str, fits: list[Any], faulty: list[Any]) -> None:
    assert name in ATTEMPT_FIELDS
    assert [value for value in fits if limit_fault(name, value)] == []
    assert [value for value in faulty if not limit_fault(name, value)] == []
