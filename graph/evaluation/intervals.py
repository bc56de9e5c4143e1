"""Confidence intervals (95 %) in which each case counts once (decision 0020).

Trials of one case are correlated, so a repetition adds less information than another case. Means are therefore taken
over the means of the cases, and rates use the effective number of independent trials.

Source: Miller, "Adding Error Bars to Evals", 2024: standard errors clustered by question, differences paired by it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan, comb, cos, pi, sin, sqrt
from statistics import NormalDist, fmean, pstdev, stdev, variance

CONFIDENCE = 0.95
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True)
class Interval:
    """A value with its confidence bounds, which are None if unknown."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def sign(self) -> int:
        """1 or -1 if the whole interval is above or below zero, else 0."""
        if self.low is None or self.high is None:
            return 0
        return (self.low > 0) - (self.high < 0)

    def to_json(self) -> dict[str, float | None]:
        """Return value and bounds."""
        return {"value": self.value, "low": self.low, "high": self.high}


def rate_interval(rates: Sequence[float], trials: int) -> Interval:
    """Return the success rate and its interval.

    Args:
        rates: Share of successful trials, one per case.
        trials: Number of trials of all cases.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference", 1927; with the effective
    number of trials as in Dean and Pagano, "Evaluating confidence interval methods for binomial proportions in
    clustered surveys", 2015.
    """
    rate, n = fmean(rates), effective_trials(rates, trials)
    middle = (rate + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * sqrt(rate * (1 - rate) / n + Z * Z / (4 * n * n))
    # Rounding must not put the rate itself outside of its interval.
    return Interval(rate, max(0.0, min(middle - half, rate)), min(1.0, max(middle + half, rate)))


def effective_trials(rates: Sequence[float], trials: int) -> float:
    """Return the effective number of independent trials, between the number of cases and that of trials.

    >>> effective_trials([1.0, 0.0, 1.0, 0.0], 12), effective_trials([0.5, 0.5], 8)
    (4.0, 8.0)
    """
    rate, cases = fmean(rates), len(rates)
    # Without a difference between cases, nothing shows that repetitions tell more.
    if cases < 2 or rate in (0.0, 1.0):
        return float(cases)
    as_if_independent = rate * (1 - rate) / trials
    design_effect = variance(rates) / cases / as_if_independent
    return trials / min(max(design_effect, 1.0), trials / cases)


def mean_interval(values: Sequence[float], least: float = float("-inf")) -> Interval:
    """Return the mean of values, one per case; the lower bound is at least `least`.

    Source: Student, "The probable error of a mean", 1908.
    """
    mean, cases = fmean(values), len(values)
    if cases < 2:
        return Interval(mean)
    half = t_quantile(cases - 1) * stdev(values) / sqrt(cases)
    return Interval(mean, max(least, mean - half), mean + half)


def rate_difference(ours: Sequence[float], theirs: Sequence[float], trials: tuple[int, int]) -> Interval:
    """Return the difference between two success rates, paired by case.

    Args:
        ours: Share of our successful trials, one per case.
        theirs: The same for theirs, in the same order.
        trials: Number of our trials and of theirs.

    Source: Newcombe, "Improved confidence intervals for the difference between binomial proportions based on paired
    data", 1998, method 10; applied to repeated trials as in Zou and Donner, "Construction of confidence limits
    about effect measures", 2008.
    """
    one, other = rate_interval(ours, trials[0]), rate_interval(theirs, trials[1])
    correlation = _correlation(ours, theirs)
    difference = one.value - other.value
    down, up = _half_widths(one), _half_widths(other)
    low = difference - _combined(down[0], up[1], correlation)
    high = difference + _combined(down[1], up[0], correlation)
    return Interval(difference, max(-1.0, low), min(1.0, high))


def sign_test(differences: Sequence[float]) -> float:
    """Return the exact probability of differences at least as one-sided, one per case, if both arms are alike.

    Cases without a difference do not count. Of single trials it is the exact test of McNemar, "Note on the sampling
    error of the difference between correlated proportions or percentages", 1947.

    >>> sign_test([1, 1, 1, 1, 1]), sign_test([1] * 12 + [-1] * 2 + [0] * 36), sign_test([0, 0])
    (0.0625, 0.012939453125, 1.0)
    """
    up, down = sum(one > 0 for one in differences), sum(one < 0 for one in differences)
    tail = sum(comb(up + down, fewer) for fewer in range(min(up, down) + 1))
    return min(1.0, 2.0 * tail / 2.0 ** (up + down))


def t_quantile(freedom: int) -> float:
    """Return the two-sided quantile of Student's t at this confidence; degrees of freedom are 1 or more.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 26.7.3 and 26.7.4.

    >>> [round(t_quantile(freedom), 3) for freedom in (1, 2, 9, 30)]
    [12.706, 4.303, 2.262, 2.042]
    """
    # The widest, at one degree of freedom, is 12.7; what is left after 60 halves is finer than a float.
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _probability_within(middle, freedom) < CONFIDENCE else (low, middle)
    return high


def _probability_within(t: float, freedom: int) -> float:
    """Return the probability that Student's t lies between -t and t."""
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2 == 1
    term = cos(angle) if odd else 1.0
    total = 0.0 if freedom == 1 else term
    for power in range(3 if odd else 2, freedom - 1, 2):
        term *= (power - 1) / power * cos(angle) ** 2
        total += term
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def _half_widths(interval: Interval) -> tuple[float, float]:
    """Return the distances from an interval's value to its lower and upper bound."""
    assert interval.low is not None and interval.high is not None
    return interval.value - interval.low, interval.high - interval.value


def _combined(one: float, other: float, correlation: float) -> float:
    return sqrt(max(0.0, one * one - 2 * correlation * one * other + other * other))


def _correlation(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the correlation of two arms over the cases; a positive one is reduced by the continuity correction."""
    spread = pstdev(ours) * pstdev(theirs)
    if spread == 0:
        return 0.0
    mean, other = fmean(ours), fmean(theirs)
    covariance = fmean((one - mean) * (two - other) for one, two in zip(ours, theirs, strict=True))
    return (max(0.0, covariance - 1 / (2 * len(ours))) if covariance > 0 else covariance) / spread
