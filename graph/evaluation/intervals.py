"""How sure a figure is: intervals of 95 % confidence, in which each case counts once.

Trials of one case are alike, so repeating a case says less than another case would. Means are therefore taken over the
cases' means, and rates know how many independent trials theirs are worth.

Source: Miller, "Adding Error Bars to Evals", 2024: standard errors clustered by question, differences paired by it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan, cos, pi, sin, sqrt
from statistics import NormalDist, fmean, pstdev, stdev, variance

CONFIDENCE = 0.95
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True)
class Interval:
    """A figure and the bounds it is within; without bounds where nothing tells them."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def sign(self) -> int:
        """1 or -1 where the whole interval is above or below zero, else 0: nothing is told."""
        if self.low is None or self.high is None:
            return 0
        return (self.low > 0) - (self.high < 0)

    def to_json(self) -> dict[str, float | None]:
        """Return value and bounds."""
        return {"value": self.value, "low": self.low, "high": self.high}


def rate_interval(rates: Sequence[float], trials: int) -> Interval:
    """Return how often something succeeds.

    Args:
        rates: For each case, the share of its trials that succeeded.
        trials: How many trials there were in all.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference", 1927; with the effective
    number of trials as in Dean and Pagano, "Evaluating confidence interval methods for binomial proportions in
    clustered surveys", 2015.
    """
    rate, n = fmean(rates), effective_trials(rates, trials)
    middle = (rate + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * sqrt(rate * (1 - rate) / n + Z * Z / (4 * n * n))
    return Interval(rate, max(0.0, min(middle - half, rate)), min(1.0, max(middle + half, rate)))


def effective_trials(rates: Sequence[float], trials: int) -> float:
    """Return how many independent trials these are worth: as many as there are cases at least, and all at most.

    >>> effective_trials([1.0, 0.0, 1.0, 0.0], 12), effective_trials([0.5, 0.5], 8)
    (4.0, 8.0)
    """
    rate, cases = fmean(rates), len(rates)
    if cases < 2 or rate in (0.0, 1.0):
        return float(cases)
    as_if_independent = rate * (1 - rate) / trials
    design_effect = variance(rates) / cases / as_if_independent
    return trials / min(max(design_effect, 1.0), trials / cases)


def mean_interval(values: Sequence[float], least: float = float("-inf")) -> Interval:
    """Return the mean of values, one for each case; nothing of its kind is below `least`.

    Source: Student, "The probable error of a mean", 1908.
    """
    mean, cases = fmean(values), len(values)
    if cases < 2:
        return Interval(mean)
    half = t_quantile(cases - 1) * stdev(values) / sqrt(cases)
    return Interval(mean, max(least, mean - half), mean + half)


def rate_difference(ours: Sequence[float], theirs: Sequence[float], trials: tuple[int, int]) -> Interval:
    """Return by how much our rate is above theirs, paired by case.

    Args:
        ours: For each case, the share of our trials that succeeded.
        theirs: The same for theirs, case by case.
        trials: How many trials there were, of ours and of theirs.

    Source: Newcombe, "Improved confidence intervals for the difference between binomial proportions based on paired
    data", 1998, method 10; for rates of repeated trials read as in Zou and Donner, "Construction of confidence limits
    about effect measures", 2008.
    """
    one, other = rate_interval(ours, trials[0]), rate_interval(theirs, trials[1])
    alike = _correlation(ours, theirs)
    difference = one.value - other.value
    down, up = _reach(one), _reach(other)
    low = difference - _together(down[0], up[1], alike)
    high = difference + _together(down[1], up[0], alike)
    return Interval(difference, max(-1.0, low), min(1.0, high))


def t_quantile(freedom: int) -> float:
    """Return what Student's t stays within, on either side of zero, at this confidence; `freedom` is 1 or more.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 26.7.3 and 26.7.4.

    >>> [round(t_quantile(freedom), 3) for freedom in (1, 2, 9, 30)]
    [12.706, 4.303, 2.262, 2.042]
    """
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _share_within(middle, freedom) < CONFIDENCE else (low, middle)
    return high


def _share_within(t: float, freedom: int) -> float:
    """Return the probability that Student's t is between -t and t."""
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2 == 1
    term = cos(angle) if odd else 1.0
    total = 0.0 if freedom == 1 else term
    for power in range(3 if odd else 2, freedom - 1, 2):
        term *= (power - 1) / power * cos(angle) ** 2
        total += term
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def _reach(interval: Interval) -> tuple[float, float]:
    """Return how far an interval reaches down and up from its value."""
    assert interval.low is not None and interval.high is not None
    return interval.value - interval.low, interval.high - interval.value


def _together(one: float, other: float, alike: float) -> float:
    return sqrt(max(0.0, one * one - 2 * alike * one * other + other * other))


def _correlation(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return how much two arms agree case by case; agreement is taken for a little less than it seems."""
    spread = pstdev(ours) * pstdev(theirs)
    if spread == 0:
        return 0.0
    mean, other = fmean(ours), fmean(theirs)
    covariance = fmean((one - mean) * (two - other) for one, two in zip(ours, theirs, strict=True))
    return (max(0.0, covariance - 1 / (2 * len(ours))) if covariance > 0 else covariance) / spread
