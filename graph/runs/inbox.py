"""What waits for people: open requests of all runs, the longest wait first, or those that one person may decide."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, overload

from planner_executor.graph.errors import InputError, LedgerError
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.ledger.run_store import Waiting, place_of
from planner_executor.graph.ledger.search import run_in
from planner_executor.graph.nodes.run.review_clock import settle
from planner_executor.graph.policy.approvers import ApproverRule, approver_refusal, have_to_approve, people_rules
from planner_executor.graph.record.open_review import OpenReview
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.summary import PERSON, RunSummary
from planner_executor.graph.runs import Runs
from planner_executor.graph.text.inbox import InboxRow, inbox_bundle

CHUNK = 200
"""Rows of the index that are read at a time."""


@dataclass(frozen=True)
class Inbox(Sequence[InboxRow]):
    """Some open requests, the longest wait first; `next` is the value of `after` for the next page."""

    rows: tuple[InboxRow, ...]
    next: str | None = None

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
        return {"inbox": [row.to_json() for row in self.rows], "next": self.next}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Show a row for each request."""
        return inbox_bundle(self.rows, self.next)


async def inbox(runs: Runs, person: Approver | None = None, *, limit: int = 50, after: str | None = None) -> Inbox:
    """Return a page of open requests; what is due for one of them is written first.

    Args:
        runs: The runs of the ledger.
        person: Only those that this person may decide and has not approved yet. Default: all.
        limit: How many, at most.
        after: The place of the last request of the page before, see `Inbox.next`.

    Raises:
        InputError: `limit` is less than 1, or `after` is no such place.
    """
    if limit < 1:
        raise InputError("limit", f"limit must be an integer >= 1, got {limit}")
    place, found = _place(after), list[RunSummary]()
    while len(found) <= limit and (chunk := await runs.ledger.waiting(CHUNK, place)):
        place = place_of(chunk[-1])
        found += [row for row in await _settled(runs, chunk) if person is None or _is_for(person, row)]
    last = place_of(found[limit - 1]) if len(found) > limit else None
    return Inbox(tuple(map(_row, found[:limit])), last and f"{last.since!r}@{last.thread}.{last.n}")


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
