"""Results of an evaluation as lines and tables."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table

from planner_executor.graph.cli.screen import cell
from planner_executor.graph.evaluation.formatting import format_interval
from planner_executor.graph.evaluation.intervals import Interval
from planner_executor.graph.evaluation.summary import MEASURES, ArmDifference, ArmSummary, Summary
from planner_executor.graph.evaluation.trial import Trial
from planner_executor.graph.plain_text.sanitize import escaped, one_line
from planner_executor.graph.plan.checks import describe_check
from planner_executor.graph.words.name_list import counted

DIRECTIONS = {1: "higher", -1: "lower", 0: "unsure"}
UNKNOWN = "unknown"
FAILURE_CHARACTERS = 240


def trial_line(trial: Trial, number: int, total: int) -> str:
    """Return one line about a finished trial."""
    spent, failure = trial.spent, trial.void or _unmet(trial)
    took = f"{spent.seconds:.1f} s, {counted(spent.model_calls, 'model call')}, {spent.tokens:,} tokens"
    return f"{'✗' if failure else '✓'} {number}/{total} {escaped(trial.slot.name)}: {took}" + (
        f"; {one_line(failure, FAILURE_CHARACTERS)}" if failure else ""
    )


def _unmet(trial: Trial) -> str:
    """Return the unmet checks, and the run's status if it did not claim success."""
    unmet = [f"{_check(finding['check'])}: {finding['seen']}" for finding in trial.findings if not finding["met"]]
    ended = [] if trial.claimed else [f"{trial.status}, {trial.reason}" if trial.reason else trial.status]
    return "; ".join([*unmet, *ended]) if unmet else ""


def _check(check: Mapping[str, Any]) -> str:
    if "answer" in check:
        return "answer"
    about = f" in {check['file']}" if "file" in check else ""
    return describe_check({key: value for key, value in check.items() if key != "file"}) + about


def summary_table(summary: Summary) -> Table:
    """Return a table with a row per arm."""
    table = Table("arm", "trials", "success", *MEASURES.values(), "false successes", box=None, pad_edge=False)
    for arm in summary.arms:
        table.add_row(*map(cell, _row(arm)))
    return table


def _row(arm: ArmSummary) -> Iterator[str]:
    yield from (arm.arm, str(arm.trials), format_interval("success", arm.success))
    yield from (format_interval(name, arm.means[name]) if name in arm.means else UNKNOWN for name in MEASURES)
    yield str(arm.mistaken)


def difference_table(summary: Summary) -> Table:
    """Return a table with the difference of each arm from the first."""
    table = Table("comparison", "cases", "success", *MEASURES.values(), box=None, pad_edge=False)
    for difference in summary.differences:
        table.add_row(*map(cell, _difference(difference)))
    return table


def _difference(difference: ArmDifference) -> Iterator[str]:
    yield from (f"{difference.arm} vs {difference.baseline}", str(difference.cases))
    yield _interval_text("success", difference.success)
    yield from (
        _interval_text(name, difference.means[name]) if name in difference.means else UNKNOWN for name in MEASURES
    )


def _interval_text(name: str, interval: Interval) -> str:
    return f"{DIRECTIONS[interval.sign]}: {format_interval(name, interval, signed=True)}"
