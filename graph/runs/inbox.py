"""What needs a person: open requests, the longest wait first, and runs that died, failed or are paused.

Every surface reads it here: the desk, the command line, notebooks and programs.
"""

from functools import partial

from planner_executor.graph.errors import LedgerError
from planner_executor.graph.nodes.run.review_clock import settle
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.summary import PERSON, RunSummary
from planner_executor.graph.runs.inbox_filter import EVERYTHING, InboxFilter
from planner_executor.graph.runs.inbox_page import Inbox, inbox_page
from planner_executor.graph.runs.runs import Runs


async def inbox(runs: Runs, wanted: InboxFilter = EVERYTHING, *, limit: int = 50, after: str | None = None) -> Inbox:
    """Return a page of what needs a person; what is due for an open request is written first.

    Args:
        runs: The runs of the ledger.
        wanted: What is looked for, and what comes first. Default: all, the longest wait first.
        limit: How many, at most.
        after: The place of the last request of the page before, see `Inbox.next`.

    Raises:
        InputError: `limit` is less than 1, or `after` is no such place.
    """
    return await inbox_page(runs.ledger, wanted, limit, after, partial(_settled, runs))


async def _settled(runs: Runs, found: list[RunSummary]) -> list[RunSummary]:
    """Write what is due for these runs, and return those that still wait; one that cannot be written stays."""
    now = await runs.ledger.now()
    due = {RunKey(run.thread, run.n) for run in found if run.due_at is not None and run.due_at <= now}
    # One by one: each is written in a transaction of its own, and another process may have been faster.
    written = {key for key in due if await _is_written(runs, key)}
    anew = {(run.thread, run.n): run for run in await runs.ledger.summaries(sorted(written, key=lambda key: key.id))}
    return [run for run in (anew.get((run.thread, run.n), run) for run in found) if run.waits_for == PERSON]


async def _is_written(runs: Runs, key: RunKey) -> bool:
    try:
        return bool(await settle(runs.ledger, key))
    except LedgerError:  # a damaged record, of which whoever opens the run is told
        return False
