"""What the trials say of each arm, and of the plans beside the direct agent."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from graph.evaluation.intervals import Interval, mean_interval, rate_difference, rate_interval
from graph.evaluation.suite import ARMS, Arm
from graph.evaluation.trial import Spent, Trial

MEASURES: Mapping[str, str] = {
    "model_calls": "model calls",
    "tokens": "tokens",
    "cost_usd": "cost, US dollars",
    "seconds": "time, seconds",
    "questions": "questions asked",
}
"""What a trial takes, by the name of a property of `Spent`, in words."""

Cases = Mapping[str, Sequence[Trial]]


@dataclass(frozen=True)
class ArmSummary:
    """One arm: how often it succeeded, and the mean of each measure for a trial.

    `mistaken` counts trials that ended as succeeded while a check fails. A measure that is not known of every trial,
    such as the cost of a model without a price, is left out of `means`.
    """

    arm: Arm
    cases: int
    trials: int
    met: int
    mistaken: int
    success: Interval
    means: Mapping[str, Interval]

    def to_json(self) -> dict[str, Any]:
        """Return the summary as the results have it."""
        counts = {"arm": self.arm, "cases": self.cases, "trials": self.trials, "met": self.met}
        return {**counts, "mistaken": self.mistaken, **_told(self.success, self.means)}


@dataclass(frozen=True)
class Difference:
    """By how much one arm is above another, over the `cases` that both have tried."""

    arm: Arm
    beside: Arm
    cases: int
    success: Interval
    means: Mapping[str, Interval]

    def to_json(self) -> dict[str, Any]:
        """Return the difference as the results have it."""
        return {"arm": self.arm, "beside": self.beside, "cases": self.cases, **_told(self.success, self.means)}


@dataclass(frozen=True)
class Summary:
    """All arms that were tried, and each but the first beside the first."""

    arms: tuple[ArmSummary, ...]
    differences: tuple[Difference, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the summary as the results have it."""
        return {
            "arms": [arm.to_json() for arm in self.arms],
            "differences": [difference.to_json() for difference in self.differences],
        }


def summarise(trials: Iterable[Trial]) -> Summary:
    """Return what trials say; those that are void say nothing."""
    found: dict[Arm, defaultdict[str, list[Trial]]] = {}
    for trial in trials:
        if trial.void is None:
            found.setdefault(trial.slot.arm, defaultdict(list))[trial.slot.case].append(trial)
    tried = [arm for arm in ARMS if arm in found]
    arms = tuple(_of_arm(arm, found[arm]) for arm in tried)
    beside = [_difference(arm, tried[0], found) for arm in tried[1:]]
    return Summary(arms, tuple(difference for difference in beside if difference is not None))


def _of_arm(arm: Arm, cases: Cases) -> ArmSummary:
    trials = [trial for tries in cases.values() for trial in tries]
    known = [name for name in MEASURES if all(_value(trial.spent, name) is not None for trial in trials)]
    return ArmSummary(
        arm=arm,
        cases=len(cases),
        trials=len(trials),
        met=sum(trial.met for trial in trials),
        mistaken=sum(trial.claimed and not trial.met for trial in trials),
        success=rate_interval([_rate(tries) for tries in cases.values()], len(trials)),
        means={name: mean_interval([_mean(tries, name) for tries in cases.values()], least=0.0) for name in known},
    )


def _difference(arm: Arm, beside: Arm, found: Mapping[Arm, Cases]) -> Difference | None:
    """Return one arm beside another over the cases that both have tried, None where there are none."""
    shared = [case for case in found[arm] if case in found[beside]]
    if not shared:
        return None
    ours, theirs = ([found[one][case] for case in shared] for one in (arm, beside))
    counts = sum(map(len, ours)), sum(map(len, theirs))
    all_of = [trial for tries in (*ours, *theirs) for trial in tries]
    known = [name for name in MEASURES if all(_value(trial.spent, name) is not None for trial in all_of)]
    return Difference(
        arm=arm,
        beside=beside,
        cases=len(shared),
        success=rate_difference([_rate(tries) for tries in ours], [_rate(tries) for tries in theirs], counts),
        means={
            name: mean_interval(
                [_mean(one, name) - _mean(other, name) for one, other in zip(ours, theirs, strict=True)]
            )
            for name in known
        },
    )


def _rate(tries: Sequence[Trial]) -> float:
    return fmean(trial.met for trial in tries)


def _mean(tries: Sequence[Trial], measure: str) -> float:
    return fmean(_value(trial.spent, measure) or 0.0 for trial in tries)


def _value(spent: Spent, measure: str) -> float | None:
    found: float | None = getattr(spent, measure)
    return found


def _told(success: Interval, means: Mapping[str, Interval]) -> dict[str, Any]:
    return {"success": success.to_json(), "means": {name: interval.to_json() for name, interval in means.items()}}
