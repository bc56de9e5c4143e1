"""What needs a person: open requests, the longest wait first, and runs that died, failed or are paused.

Every surface reads it here: the desk, the command line, notebooks and programs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, overload

from planner_executor.graph.errors import InputError, LedgerError
from planner_executor.graph.ledger.search import run_in
from planner_executor.graph.nodes.run.review_clock import settle
from planner_executor.graph.policy.approvers import ApproverRule, have_to_approve, people_rules
from planner_executor.graph.record.open_review import OpenReview
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.summary import PERSON, RunSummary
from planner_executor.graph.record.waiting_filter import Waiting
from planner_executor.graph.runs.inbox_filter import EVERYTHING, InboxFilter
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.runs.stopped import stopped_runs
from planner_executor.graph.text.inbox import InboxRow, StoppedRow, inbox_bundle
from planner_executor.graph.text.stopped import How

CHUNK, MOST_READ = 200, 2_000
"""Rows of the index that are read at a time, and for one page: what a person may decide goes on at its `next`."""


@dataclass(frozen=True)
class Inbox(Sequence[InboxRow]):
    """Some open requests, the longest wait first; `next` is the value of `after` for the next page.

    The first page has beside them the runs that `stopped`: those that died, failed or are paused. `total` is the number
    of requests on all pages, None if it was not counted: on later pages, and for a person with several.
    """

    rows: tuple[InboxRow, ...]
    next: str | None = None
    stopped: tuple[StoppedRow, ...] = ()
    total: int | None = None

    @overload
    def __getitem__(self, place: int) -> InboxRow: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[InboxRow]: ...
    def __getitem__(self, place: int | slice) -> InboxRow | Sequence[InboxRow]:
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)

    def to_json(self) -> dict[str, Any]:
        """Return the page as JSON."""
        stopped = [row.to_json() for row in self.stopped]
        rows = [row.to_json() for row in self.rows]
        return {"inbox": rows, "next": self.next, "stopped": stopped, "total": self.total}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Show a row for each request."""
        return inbox_bundle(self.rows, self.next)


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
    if limit < 1:
        raise InputError("limit", f"limit must be an integer >= 1, got {limit}")
    found, following = await _requests(runs, wanted, limit, _place(after))
    stopped, total = list[tuple[How, RunSummary]](), None
    if after is None:
        stopped = await stopped_runs(runs.ledger) if wanted.stops else []
        if following is None:
            total = len(found)
        elif wanted.person is None:
            total = await runs.ledger.waiting_count(wanted)
    return Inbox(
        tuple(map(_row, found)),
        following and place_in_words(following),
        tuple(_stopped_row(how, row) for how, row in stopped if wanted.has_stopped(how, row)),
        total,
    )


async def _requests(
    runs: Runs, wanted: InboxFilter, limit: int, after: Waiting | None
) -> tuple[list[RunSummary], Waiting | None]:
    """Return the requests of a page, and the place behind which the next page begins."""
    found, read = list[RunSummary](), 0
    # One more than is asked for: it says whether there is a next page.
    size = CHUNK if wanted.person is not None else min(CHUNK, limit + 1)
    while wanted.asks_people and (chunk := await runs.ledger.waiting(size, wanted, after)):
        after, read = wanted.place(chunk[-1]), read + len(chunk)
        found += [run for run in await _settled(runs, chunk) if wanted.is_decided_by(run)]
        if len(found) > limit:
            return found[:limit], wanted.place(found[limit - 1])
        if len(chunk) < size:
            break
        if read >= MOST_READ:
            return found, after
    return found, None


def _stopped_row(how: How, run: RunSummary) -> StoppedRow:
    return StoppedRow(
        run=run.id,
        goal=run.goal,
        how=how,
        status=run.status,
        since=run.ended_at or run.updated_at,
        tags=run.tags,
        steps=run.steps,
        succeeded=run.succeeded,
        cost_usd=run.cost_usd,
        tokens=run.tokens,
        started_by=run.started_by,
    )


def _row(run: RunSummary) -> InboxRow:
    review = run.review or OpenReview(0)
    rules = people_rules(map(ApproverRule.from_json, review.rules), review.escalated_s)
    estimate: Mapping[str, Any] = review.estimate
    return InboxRow(
        run=run.id,
        goal=run.goal,
        asks=run.asks,
        since=run.waiting_since or 0.0,
        until=run.until,
        amount=run.amount,
        estimate=estimate,
        deciders=tuple(map(str, rules)),
        policy=have_to_approve(rules) if rules else "",
        voters=review.voters,
        tags=run.tags,
        revision=run.revision,
        steps=run.steps,
        succeeded=run.succeeded,
        cost_usd=run.cost_usd,
        tokens=run.tokens,
        effects=review.effects,
        left_out=review.left_out,
        started_by=run.started_by,
    )


async def _settled(runs: Runs, found: Sequence[RunSummary]) -> list[RunSummary]:
    """Write what is due for these runs, and return those that still wait; one that cannot be written stays."""
    now = await runs.ledger.now()
    due = {RunKey(run.thread, run.n) for run in found if run.due_at is not None and run.due_at <= now}
    written = {key for key in due if await _is_written(runs, key)}
    anew = {(run.thread, run.n): run for run in await runs.ledger.summaries(sorted(written, key=lambda key: key.id))}
    rows = (anew.get((run.thread, run.n), run) for run in found)
    return [run for run in rows if run.waits_for == PERSON]


async def _is_written(runs: Runs, key: RunKey) -> bool:
    try:
        return bool(await settle(runs.ledger, key))
    except LedgerError:  # a damaged record, of which whoever opens the run is told
        return False


def place_in_words(place: Waiting) -> str:
    """Return a place as `Inbox.next` has it."""
    return f"{place.value!r}@{place.thread}.{place.n}"


def _place(after: str | None) -> Waiting | None:
    if after is None:
        return None
    value, _, name = after.partition("@")
    run = run_in(name)
    try:
        assert run is not None and isfinite(float(value))
        return Waiting(float(value), run.thread, run.n)
    except (ValueError, AssertionError):
        raise InputError("after", f"{after!r:.80} is no place of an inbox; give `next` of the page before") from None
