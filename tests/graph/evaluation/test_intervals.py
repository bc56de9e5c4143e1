from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.evaluation.intervals import (
    Interval,
    mean_interval,
    rate_difference,
    rate_interval,
    sign_test,
)

OUTCOMES = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=40)


def bounds(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None and interval.high is not None
    return interval.low, interval.high


def test_a_rate_has_wilsons_interval() -> None:
    half = rate_interval([1.0, 0.0] * 5, 10)

    assert bounds(half) == pytest.approx((0.2366, 0.7634), abs=1e-4)  # as in any table of score intervals


def test_success_throughout_is_not_certain() -> None:
    low, high = bounds(rate_interval([1.0] * 10, 10))

    assert low == pytest.approx(0.7225, abs=1e-4)
    assert high == 1.0


@given(OUTCOMES)
def test_an_interval_of_a_rate_holds_the_rate_and_is_one_of_rates(outcomes: list[float]) -> None:
    interval = rate_interval(outcomes, len(outcomes))

    low, high = bounds(interval)
    assert 0 <= low <= interval.value <= high <= 1


def test_repeating_cases_that_always_end_alike_makes_nothing_surer() -> None:
    once = rate_interval([1.0, 0.0, 1.0, 1.0], 4)

    assert rate_interval([1.0, 0.0, 1.0, 1.0], 400) == once


def test_repeating_cases_that_end_now_this_way_now_that_does() -> None:
    once, often = rate_interval([0.5, 0.5], 4), rate_interval([0.5, 0.5], 40)

    assert bounds(often)[0] > bounds(once)[0]


def test_a_mean_has_students_interval() -> None:
    interval = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])

    assert interval.value == 3.0
    assert bounds(interval) == pytest.approx((1.0368, 4.9632), abs=1e-4)  # 3 ± 2.7764 * sqrt(2.5 / 5)


def test_one_case_tells_no_bounds_of_a_mean() -> None:
    assert mean_interval([7.0]) == Interval(7.0)
    assert mean_interval([7.0]).sign == 0


def test_a_difference_of_paired_rates_is_newcombes() -> None:
    ours = [1.0] * 36 + [1.0] * 12 + [0.0] * 2
    theirs = [1.0] * 36 + [0.0] * 12 + [1.0] * 2

    difference = rate_difference(ours, theirs, (50, 50))

    assert difference.value == pytest.approx(0.2)
    assert bounds(difference) == pytest.approx((0.0569, 0.3404), abs=1e-4)  # table 2 of the paper
    assert difference.sign == 1


def test_an_exact_test_of_pairs_is_mcnemars() -> None:
    assert sign_test([1.0] * 25 + [-1.0] * 9 + [0.0] * 50) == pytest.approx(0.00904, abs=1e-5)
    assert sign_test([1.0] * 5) > 0.05 >= sign_test([0.5] * 6)  # five cases never suffice


@given(OUTCOMES, st.randoms(use_true_random=False))
def test_a_difference_the_other_way_round_is_its_mirror(ours: list[float], random: Random) -> None:
    theirs = random.choices([0.0, 1.0], k=len(ours))
    trials = len(ours), len(theirs)

    one, other = rate_difference(ours, theirs, trials), rate_difference(theirs, ours, trials)

    assert bounds(one) == pytest.approx((-bounds(other)[1], -bounds(other)[0]))


def test_two_arms_that_end_alike_everywhere_are_not_told_to_be_the_same() -> None:
    same = [1.0, 0.0] * 5

    low, high = bounds(rate_difference(same, same, (10, 10)))

    assert low < 0 < high


@pytest.mark.parametrize("cases", [6, 20])
def test_intervals_of_means_hold_the_true_mean_about_95_times_in_100(cases: int) -> None:
    random = Random(7)

    lock_folder = []
    for _ in range(2_000):
        low, high = bounds(mean_interval([random.gauss(10, 3) for _ in range(cases)]))
        lock_folder.append(low <= 10 <= high)

    assert 0.93 < fmean(lock_folder) < 0.97


def test_intervals_of_repeated_trials_hold_the_true_rate_about_95_times_in_100() -> None:
    random = Random(7)

    lock_folder = []
    for _ in range(1_000):
        chances = [random.betavariate(2, 1) for _ in range(15)]  # cases differ: some are easy
        rates = [fmean(random.random() < chance for _ in range(5)) for chance in chances]
        low, high = bounds(rate_interval(rates, 75))
        lock_folder.append(low <= 2 / 3 <= high)

    assert fmean(lock_folder) > 0.93
