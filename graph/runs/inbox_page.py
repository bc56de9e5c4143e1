"""A page of what needs a person, read from the index of runs."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import Any

from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.run_index import RunIndex
from planner_executor.graph.policy.approver_rule import ApproverRule, have_to_approve, people_rules
from planner_executor.graph.record.open_review import OpenReview
from planner_executor.graph.record.run_key import run_in
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.record.waiting_filter import Waiting
from planner_executor.graph.runs.inbox_filter import InboxFilter
from planner_executor.graph.runs.stopped import stopped_runs
from planner_executor.graph.text.inbox import InboxRow, StoppedRow
from planner_executor.graph.text.stopped import How
from planner_executor.graph.words.rows import Rows

CHUNK, MOST_READ = 200, 2_000
"""Rows of the index that are read at a time, and for one page: what a person may decide goes on at its `next`."""
Settled = Callable[[list[RunSummary]], Awaitable[list[RunSummary]]]


async def _as_read(found: list[RunSummary]) -> list[RunSummary]:
    return found


@dataclass(frozen=True)
class Inbox(Rows[InboxRow]):
    """Some open requests, the longest wait first; `next` is the value of `after` for the next page.

    The first page has beside them the runs that `stopped`: those that died, failed or are paused. `total` is the number
    of requests on all pages, None if it was not counted: on later pages, and for a person with several.
    """

    next: str | None = None
    stopped: tuple[StoppedRow, ...] = ()
    total: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the page as JSON."""
        stopped = [row.to_json() for row in self.stopped]
        rows = [row.to_json() for row in self.rows]
        return {"inbox": rows, "next": self.next, "stopped": stopped, "total": self.total}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Show a row for each request."""
        from planner_executor.graph.text.inbox_table import inbox_bundle  # most inboxes are read in no notebook

        return inbox_bundle(self.rows, self.next)


async def inbox_page(
    index: RunIndex, wanted: InboxFilter, limit: int, after: str | None, settled: Settled = _as_read
) -> Inbox:
    """Return a page of what needs a person; for its arguments see `graph.runs.inbox.inbox`.

    Args:
        index: The index.
        wanted: What is looked for, and what comes first.
        limit: How many, at most.
        after: The place of the last request of the page before.
        settled: Writes what is due for open requests, and returns those that still wait.

    Raises:
        InputError: `limit` is less than 1, or `after` is no such place.
    """
    if limit < 1:
        raise InputError("limit", f"limit must be an integer >= 1, got {limit}")
    found, following = await _requests(index, wanted, limit, _place(after), settled)
    stopped, total = list[tuple[How, RunSummary]](), None
    # On the first page only: those who turn pages have seen them.
    if after is None:
        stopped = await stopped_runs(index) if wanted.stops else []
        if following is None:
            total = len(found)
        # The index does not know who may decide a request, so for one person there is no count.
        elif wanted.person is None:
            total = await index.waiting_count(wanted)
    return Inbox(
        tuple(map(_row, found)),
        following and place_in_words(following),
        tuple(_stopped_row(how, row) for how, row in stopped if wanted.has_stopped(how, row)),
        total,
    )


async def _requests(
    index: RunIndex, wanted: InboxFilter, limit: int, after: Waiting | None, settled: Settled
) -> tuple[list[RunSummary], Waiting | None]:
    """Return the requests of a page, and the place behind which the next page begins."""
    found, read = list[RunSummary](), 0
    # One more than is asked for: it says whether there is a next page.
    size = CHUNK if wanted.person is not None else min(CHUNK, limit + 1)
    while wanted.asks_people and (chunk := await index.waiting(size, wanted, after)):
        after, read = wanted.place(chunk[-1]), read + len(chunk)
        found += [run for run in await settled(chunk) if wanted.is_decided_by(run)]
        if len(found) > limit:
            return found[:limit], wanted.place(found[limit - 1])
        if len(chunk) < size:
            break
        if read >= MOST_READ:
            return found, after
    return found, None


def _stopped_row(how: How, run: RunSummary) -> StoppedRow:
    return StoppedRow(**_listed(run), since=run.ended_at or run.updated_at, how=how, status=run.status)


def _row(run: RunSummary) -> InboxRow:
    review = run.review or OpenReview(0)
    rules = people_rules(map(ApproverRule.from_json, review.rules), review.escalated_s)
    return InboxRow(
        **_listed(run),
        since=run.waiting_since or 0.0,
        asks=run.asks,
        until=run.until,
        amount=run.amount,
        estimate=review.estimate,
        deciders=tuple(map(str, rules)),
        policy=have_to_approve(rules) if rules else "",
        voters=review.voters,
        revision=run.revision,
        effects=review.effects,
        left_out=review.left_out,
    )


def _listed(run: RunSummary) -> dict[str, Any]:
    """Return what every row tells of a run."""
    same = ("goal", "tags", "steps", "succeeded", "cost_usd", "tokens", "started_by")
    return {"run": run.id, **{name: getattr(run, name) for name in same}}


def place_in_words(place: Waiting) -> str:
    """Return a place as `Inbox.next` has it."""
    return f"{place.value!r}@{place.thread}.{place.n}"


def _place(after: str | None) -> Waiting | None:
    if after is None:
        return None
    number, _, name = after.partition("@")
    with suppress(ValueError):
        if (run := run_in(name)) is not None and isfinite(value := float(number)):
            return Waiting(value, run.thread, run.n)
    raise InputError("after", f"{after!r:.80} is not the `next` of a page; give that of the page before")
