"""The runs that need a person and ask nothing: those that died, failed or are paused."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner_executor.graph.ledger.run_index import RunIndex
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_status import FAILURES
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.text.stopped import STOPPED, How

if TYPE_CHECKING:
    from planner_executor.graph.record.counters import Labels

FAILED_S, MOST_STOPPED = 7 * 86_400.0, 50
"""How long a failure needs a person, and how many runs of a kind are named."""


async def stopped_runs(index: RunIndex) -> list[tuple[How, RunSummary]]:
    """Return the runs that stopped and how, the most urgent first; what a later run of its thread replaced is over."""
    # Whoever holds a run and lives is at work on it.
    left = {one.run: one for one in await index.unfinished() if one.is_dead or one.holder is None}
    # The latest alone: a ledger that was killed often has more than a list can show.
    rows = await index.summaries([*left][-MOST_STOPPED:])
    found: list[tuple[How, RunSummary]] = [
        ("died" if left[RunKey(row.thread, row.n)].is_dead else "paused", row) for row in rows
    ]
    since = await index.now() - FAILED_S
    for row in await index.page(RunFilter(status=tuple(sorted(FAILURES)), limit=MOST_STOPPED)):
        # A later run of the thread has taken its place, and nobody has to look at it.
        if (row.ended_at or 0.0) >= since and await index.last_run(row.thread) == RunKey(row.thread, row.n):
            found.append(("failed", row))
    urgency = list(STOPPED)
    return sorted(found, key=lambda one: (urgency.index(one[0]), -one[1].updated_at))


def stopped_gauges(found: Sequence[tuple[How, RunSummary]]) -> "dict[tuple[str, Labels], float]":
    """Return the gauge of runs that stopped, by how."""
    counts = Counter(how for how, _ in found)
    return {("runs_stopped", (("how", how),)): float(counts[how]) for how in STOPPED}
