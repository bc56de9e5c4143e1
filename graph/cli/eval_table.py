"""Results of an evaluation as lines and tables."""

from collections.abc import Iterator

from rich.table import Table

from planner_executor.graph.cli.screen import cell
from planner_executor.graph.evaluation.formatting import format_interval
from planner_executor.graph.evaluation.summary import MEASURES, ArmDifference, ArmSummary, Summary
from planner_executor.graph.evaluation.trial import Trial
from planner_executor.graph.plain_text.sanitize import escaped, one_line
from planner_executor.graph.words.name_list import counted

UNKNOWN = "unknown"
FAILURE_CHARACTERS = 240


def trial_line(trial: Trial, number: int, total: int) -> str:
    """Return one line about a finished trial."""
    spent, failure = trial.spent, trial.void or "; ".join(trial.faults)
    took = f"{spent.seconds:.1f} s, {counted(spent.model_calls, 'model call')}, {spent.tokens:,} tokens"
    return f"{'✗' if failure else '✓'} {number}/{total} {escaped(trial.slot.name)}: {took}" + (
        f"; {one_line(failure, FAILURE_CHARACTERS)}" if failure else ""
    )


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
    figures = {"success": difference.success, **difference.means}
    for name in ("success", *MEASURES):
        interval = format_interval(name, figures[name], signed=True) if name in figures else None
        yield f"{difference.verdicts[name]}: {interval}" if interval is not None else UNKNOWN
