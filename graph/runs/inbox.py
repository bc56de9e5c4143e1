"""What needs a person: open requests, the longest wait first, and runs that died, failed or are paused.

Every surface reads it here: the desk, the command line, notebooks and programs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, overload

from planner_executor.graph.errors import InputError, LedgerError
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.ledger.run_store import Waiting, place_of
from planner_executor.graph.ledger.search import run_in
from planner_executor.graph.nodes.run.review_clock import settle
from planner_executor.graph.notices.notice import FAILURES
from planner_executor.graph.policy.approvers import ApproverRule, approver_refusal, have_to_approve, people_rules
from planner_executor.graph.record.open_review import OpenReview
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.summary import PERSON, RunSummary
from planner_executor.graph.runs import Runs
from planner_executor.graph.text.inbox import STOPPED, InboxRow, StoppedRow, inbox_bundle

CHUNK = 200
"""Rows of the index that are read at a time."""
FAILED_S, MOST_STOPPED = 7 * 86_400.0, 50
"""How long a failure needs a person, and how many runs that stopped are named."""


@dataclass(frozen=True)
class Inbox(Sequence[InboxRow]):
    """Some open requests, the longest wait first; `next` is the value of `after` for the next page.

    The first page has beside them the runs that `stopped`: those that died, failed or are paused.
    """

    rows: tuple[InboxRow, ...]
    next: str | None = None
    stopped: tuple[StoppedRow, ...] = ()

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
        return {"inbox": [row.to_json() for row in self.rows], "next": self.next, "stopped": stopped}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Show a row for each request."""
        return inbox_bundle(self.rows, self.next)


async def inbox(
    runs: Runs,
    person: Approver | None = None,
    *,
    limit: int = 50,
    after: str | None = None,
    text: str = "",
    asks: str | None = None,
) -> Inbox:
    """Return a page of what needs a person; what is due for an open request is written first.

    Args:
        runs: The runs of the ledger.
        person: Only those that this person may decide and has not approved yet. Default: all.
        limit: How many, at most.
        after: The place of the last request of the page before, see `Inbox.next`.
        text: Only runs with these words in goal, name or tags.
        asks: Only what asks for this, such as `run_plan`, or has stopped this way, such as `died`.

    Raises:
        InputError: `limit` is less than 1, or `after` is no such place.
    """
    if limit < 1:
        raise InputError("limit", f"limit must be an integer >= 1, got {limit}")
    place, found, words = _place(after), list[RunSummary](), text.casefold().split()

    def is_wanted(row: RunSummary) -> bool:
        told = " ".join((row.goal, row.id, *row.tags)).casefold()
        return all(word in told for word in words)

    # One more than is asked for: it says whether there is a next page.
    while asks not in STOPPED and len(found) <= limit and (chunk := await runs.ledger.waiting(CHUNK, place)):
        place = place_of(chunk[-1])
        rows = (row for row in await _settled(runs, chunk) if person is None or _is_for(person, row))
        found += [row for row in rows if is_wanted(row) and (asks is None or asks in row.asks)]
    stopped = [
        _stopped_row(how, row)
        for how, row in (await _stopped(runs) if after is None and (asks is None or asks in STOPPED) else ())
        if is_wanted(row) and asks in (None, how)
    ]
    last = place_of(found[limit - 1]) if len(found) > limit else None
    return Inbox(tuple(map(_row, found[:limit])), last and f"{last.since!r}@{last.thread}.{last.n}", tuple(stopped))


How = Literal["died", "failed", "paused"]


async def _stopped(runs: Runs) -> list[tuple[How, RunSummary]]:
    """Return the runs that stopped and how, the most urgent first; what a later run of its thread replaced is over."""
    ledger = runs.ledger
    left = {one.run: one for one in await ledger.unfinished() if one.is_dead or one.holder is None}
    rows = await ledger.summaries([*left][-MOST_STOPPED:])
    under_way: list[tuple[How, RunSummary]] = [
        ("died" if left[RunKey(row.thread, row.n)].is_dead else "paused", row) for row in rows
    ]
    failed = await ledger.page(RunFilter(status=tuple(sorted(FAILURES)), limit=MOST_STOPPED))
    since = await ledger.now() - FAILED_S
    latest = [
        row
        for row in failed
        if (row.ended_at or 0.0) >= since and await ledger.last_run(row.thread) == RunKey(row.thread, row.n)
    ]
    urgency = list(STOPPED)
    found: list[tuple[How, RunSummary]] = [*under_way, *(("failed", row) for row in latest)]
    return sorted(found, key=lambda one: (urgency.index(one[0]), -one[1].updated_at))


def _stopped_row(how: str, run: RunSummary) -> StoppedRow:
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
    )


def _is_for(person: Approver, run: RunSummary) -> bool:
    review = run.review or OpenReview(0)
    rules = people_rules(_rules(review), review.escalated_s)
    voted = {Approver.of_label(label).person for label in review.voters}
    return person.person not in voted and (not rules or approver_refusal(rules, person, review.askers) is None)


def _rules(review: OpenReview) -> Iterator[ApproverRule]:
    return map(ApproverRule.from_json, review.rules)


def _row(run: RunSummary) -> InboxRow:
    review = run.review or OpenReview(0)
    rules = people_rules(_rules(review), review.escalated_s)
    estimate: Mapping[str, Any] = review.estimate
    until = review.deadline.until if review.deadline is not None else None
    return InboxRow(
        run=run.id,
        goal=run.goal,
        asks=run.asks,
        since=run.waiting_since or 0.0,
        until=until,
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


def _place(after: str | None) -> Waiting | None:
    if after is None:
        return None
    since, _, name = after.partition("@")
    run = run_in(name)
    try:
        assert run is not None and isfinite(float(since))
        return Waiting(float(since), run.thread, run.n)
    except (ValueError, AssertionError):
        raise InputError("after", f"{after!r:.80} is no place of an inbox; give `next` of the page before") from None
