"""Summary of the trials: each arm, and the difference of each arm from the first."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from planner_executor.graph.evaluation.intervals import (
    CONFIDENCE,
    Interval,
    mean_interval,
    rate_difference,
    rate_interval,
    sign_test,
)
from planner_executor.graph.evaluation.suite import ARMS
from planner_executor.graph.evaluation.trial import Spent, Trial

MEASURES: Mapping[str, str] = {
    "model_calls": "model calls",
    "tokens": "tokens",
    "cost_usd": "cost, US dollars",
    "seconds": "time, seconds",
    "questions": "questions asked",
}
"""Label of each measure, by the name of the `Spent` property that holds it."""

DIRECTIONS: Mapping[int, str] = {1: "higher", -1: "lower", 0: "unsure"}
TOO_FEW = "too few cases"
FEWEST_CASES = 6
"""With fewer cases the exact test finds no difference in success, even if every case differs: 2 / 2^5 is above 5 %."""

Cases = Mapping[str, Sequence[Trial]]


@dataclass(frozen=True, kw_only=True)
class _Figures:
    """What is said of an arm over so many cases; a measure that is unknown for some trial is missing from `means`."""

    arm: str
    cases: int
    success: Interval
    means: Mapping[str, Interval]


@dataclass(frozen=True, kw_only=True)
class ArmSummary(_Figures):
    """One arm: its success rate, and the mean of each measure per trial.

    `mistaken` counts trials that ended as succeeded although a check failed. Unknown is, for example, the cost of a
    model without a price.
    """

    trials: int
    met: int
    mistaken: int

    def to_json(self) -> dict[str, Any]:
        """Return the summary in the format of the results file."""
        counts = {"arm": self.arm, "cases": self.cases, "trials": self.trials, "met": self.met}
        return {**counts, "mistaken": self.mistaken, **_result_json(self.success, self.means)}


@dataclass(frozen=True, kw_only=True)
class ArmDifference(_Figures):
    """Difference of an arm from a baseline arm, over the `cases` that both ran; `chance` is that of `sign_test`."""

    baseline: str
    chance: float

    @property
    def verdicts(self) -> dict[str, str]:
        """What may be said, by measure: in which direction the arms differ, `unsure`, or `too few cases`."""
        # Both have to say so: the interval, and the exact test, which holds for few cases too.
        sure = self.success.sign if self.chance <= 1 - CONFIDENCE else 0
        said = {"success": DIRECTIONS[sure] if self.cases >= FEWEST_CASES else TOO_FEW}
        return said | {name: TOO_FEW if one.low is None else DIRECTIONS[one.sign] for name, one in self.means.items()}

    def to_json(self) -> dict[str, Any]:
        """Return the difference in the format of the results file."""
        figures = _result_json(self.success, self.means)
        said = {"chance": self.chance, "verdicts": self.verdicts}
        return {"arm": self.arm, "beside": self.baseline, "cases": self.cases, **figures, **said}


@dataclass(frozen=True)
class Summary:
    """All arms with trials, and the difference of each later arm from the first."""

    arms: tuple[ArmSummary, ...]
    differences: tuple[ArmDifference, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the summary in the format of the results file."""
        return {
            "arms": [arm.to_json() for arm in self.arms],
            "differences": [difference.to_json() for difference in self.differences],
        }


def summarise(trials: Iterable[Trial], arms: Iterable[str] = ARMS) -> Summary:
    """Return the summary of trials of these arms; void ones are ignored, and the first arm is the baseline."""
    by_arm: dict[str, defaultdict[str, list[Trial]]] = {}
    for trial in trials:
        if trial.void is None:
            by_arm.setdefault(trial.slot.arm, defaultdict(list))[trial.slot.case].append(trial)
    tried = [arm for arm in arms if arm in by_arm]
    summaries = tuple(_summarise_arm(arm, by_arm[arm]) for arm in tried)
    differences = [_difference(arm, tried[0], by_arm) for arm in tried[1:]]
    return Summary(summaries, tuple(difference for difference in differences if difference is not None))


def _summarise_arm(arm: str, cases: Cases) -> ArmSummary:
    trials = [trial for tries in cases.values() for trial in tries]
    # A measure that one trial lacks is left out: its mean would be one of the other trials alone.
    known = [name for name in MEASURES if all(_value(trial.spent, name) is not None for trial in trials)]
    return ArmSummary(
        arm=arm,
        cases=len(cases),
        trials=len(trials),
        met=sum(trial.met for trial in trials),
        mistaken=sum(trial.claimed and not trial.met for trial in trials),
        # By case and not by trial: tries of one case are alike, and would make the interval too narrow.
        success=rate_interval([_rate(tries) for tries in cases.values()], len(trials)),
        means={name: mean_interval([_mean(tries, name) for tries in cases.values()], least=0.0) for name in known},
    )


def _difference(arm: str, baseline: str, by_arm: Mapping[str, Cases]) -> ArmDifference | None:
    """Return the difference over the cases that both arms ran, or None if there is no such case."""
    # Only what both ran is compared: other cases may be harder or easier.
    shared = [case for case in by_arm[arm] if case in by_arm[baseline]]
    if not shared:
        return None
    ours, theirs = ([by_arm[one][case] for case in shared] for one in (arm, baseline))
    counts = sum(map(len, ours)), sum(map(len, theirs))
    all_of = [trial for tries in (*ours, *theirs) for trial in tries]
    known = [name for name in MEASURES if all(_value(trial.spent, name) is not None for trial in all_of)]
    rates, others = [_rate(tries) for tries in ours], [_rate(tries) for tries in theirs]
    return ArmDifference(
        arm=arm,
        baseline=baseline,
        cases=len(shared),
        success=rate_difference(rates, others, counts),
        chance=sign_test([one - other for one, other in zip(rates, others, strict=True)]),
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


def _result_json(success: Interval, means: Mapping[str, Interval]) -> dict[str, Any]:
    return {"success": success.to_json(), "means": {name: interval.to_json() for name, interval in means.items()}}
