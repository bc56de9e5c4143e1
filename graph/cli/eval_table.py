"""What an evaluation found, as lines and tables."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table

from graph.cli.screen import cell
from graph.evaluation.figures import shown
from graph.evaluation.intervals import Interval
from graph.evaluation.summary import MEASURES, ArmSummary, Difference, Summary
from graph.evaluation.trial import Trial
from graph.plan.checks import describe_check
from graph.sanitize import escaped, one_line

SEEN = {1: "higher", -1: "lower", 0: "unsure"}
NOT_KNOWN = "not known"
WHY_CHARACTERS = 240


def told_trial(trial: Trial, number: int, total: int) -> str:
    """Return a line on a trial that has just been made."""
    spent, why = trial.spent, trial.void or _unmet(trial)
    took = f"{spent.seconds:.1f} s, {spent.model_calls} model calls, {spent.tokens:,} tokens"
    return f"{'✗' if why else '✓'} {number}/{total} {escaped(trial.slot.name)}: {took}" + (
        f"; {one_line(why, WHY_CHARACTERS)}" if why else ""
    )


def _unmet(trial: Trial) -> str:
    """Return what is missing from a success, and how the run ended where it did not claim one."""
    unmet = [f"{_check(finding['check'])}: {finding['seen']}" for finding in trial.findings if not finding["met"]]
    ended = [] if trial.claimed else [f"{trial.status}, {trial.reason}" if trial.reason else trial.status]
    return "; ".join([*unmet, *ended]) if unmet else ""


def _check(check: Mapping[str, Any]) -> str:
    if "answer" in check:
        return "answer"
    about = f" in {check['file']}" if "file" in check else ""
    return describe_check({key: value for key, value in check.items() if key != "file"}) + about


def summary_table(summary: Summary) -> Table:
    """Return a row for each arm."""
    table = Table("arm", "trials", "success", *MEASURES.values(), "said done, was not", box=None, pad_edge=False)
    for arm in summary.arms:
        table.add_row(*map(cell, _row(arm)))
    return table


def _row(arm: ArmSummary) -> Iterator[str]:
    yield from (arm.arm, str(arm.trials), shown("success", arm.success))
    yield from (shown(name, arm.means[name]) if name in arm.means else NOT_KNOWN for name in MEASURES)
    yield str(arm.mistaken)


def difference_table(summary: Summary) -> Table:
    """Return a row for each arm that is set beside the first: what it gains and costs there, where that can be told."""
    table = Table("beside", "cases", "success", *MEASURES.values(), box=None, pad_edge=False)
    for difference in summary.differences:
        table.add_row(*map(cell, _difference(difference)))
    return table


def _difference(difference: Difference) -> Iterator[str]:
    yield from (f"{difference.arm} beside {difference.beside}", str(difference.cases))
    yield _told("success", difference.success)
    yield from (_told(name, difference.means[name]) if name in difference.means else NOT_KNOWN for name in MEASURES)


def _told(name: str, interval: Interval) -> str:
    return f"{SEEN[interval.sign]}: {shown(name, interval, signed=True)}"
