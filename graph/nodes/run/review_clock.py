"""What falls due for an open request: reminders, escalation, and its end; the first process that looks writes it.

A worker looks for such requests in the index of runs, and a process that opens a run looks at that run. The ledger's
clock and the deadline on record alone decide what is due, so that it does not matter who writes it (decision 0082).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from planner_executor.graph.errors import RunOwnedError, StaleRunError
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.ledger.run_states import state_of
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.nodes.run.ending import ended, outcome_so_far
from planner_executor.graph.record.deadline import Deadline, moment_in_words
from planner_executor.graph.record.ending import Ending
from planner_executor.graph.record.events import (
    Draft,
    EventData,
    LateAnswer,
    ReviewEscalated,
    ReviewExpired,
    ReviewReminded,
)
from planner_executor.graph.record.events.content import Content
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.projection import apply_events
from planner_executor.graph.record.review_state import RecordedRequest, expired_in_words
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.values import Kept, keep_anything

CALL, BUDGET = "run_step", "raise_budget"


async def settle(ledger: RunStore, run: RunKey, record: RunState | None = None) -> Sequence[EventData]:
    """Write what is due for a run, unless somebody works on it; return what was written.

    Args:
        ledger: The ledger.
        run: The run.
        record: The run as it was read, if it was; what is written is applied to it.

    Raises:
        LedgerError: The record cannot be read or written.
    """
    record = record if record is not None else await state_of(ledger, run)
    if not record.is_due(await ledger.now()) or await ledger.is_worked_on(run):
        return ()
    try:
        return await bring_up(ledger, run, record)
    except (RunOwnedError, StaleRunError):
        return ()  # somebody works on it, and looks by themselves


async def refuse_late(
    ledger: RunStore, run: RunKey, answer: object, by: Approver, *, unseen: bool = False
) -> str | None:
    """Record an answer to a request that has expired; return why it counts no more, None if no request has.

    An answer to a run that goes on elsewhere by now is not recorded.
    """
    record = await state_of(ledger, run)
    if (late := late_answer(record, answer, by, unseen=unseen)) is None:
        return None
    draft, artifacts = late
    if not await ledger.is_worked_on(run):
        # It may have been taken up since that look.
        with suppress(RunOwnedError):
            async with ledger.owned(run) as lease:
                await ledger.append(lease, [draft], artifacts=artifacts)
    assert isinstance(draft.data, LateAnswer)
    return draft.data.error


async def bring_up(ledger: Ledger, run: RunKey, record: RunState) -> Sequence[EventData]:
    """Write what is due for a run as it was read, apply it to its record, and return what was written.

    Raises:
        RunOwnedError: Another process owns the run.
    """
    if not record.is_due(await ledger.now()):
        return ()
    async with ledger.owned_and_read(run, record.seq) as owned:
        apply_events(record, owned.news.events)
        # Asked again once the run is owned: another process may have written it in between.
        drafts, artifacts = await _due(ledger, record, await ledger.now())
        if drafts:
            found = await ledger.write(
                owned.lease, drafts, after=record.seq, artifacts=artifacts, control_seq=record.control_seq
            )
            apply_events(record, found)
    return [draft.data for draft in drafts]


def late_answer(record: RunState, answer: object, by: Approver, *, unseen: bool) -> tuple[Draft, list[Kept]] | None:
    """Return the event of an answer to a request that has expired, None if the last request has not."""
    expired = record.review_state.last_expired
    if expired is None:
        return None
    kept = keep_anything(answer)
    late = LateAnswer(
        request=expired.request,
        answer=Content.of(kept),
        unseen=unseen,
        error=too_late(expired),
        approver=str(by),
        roles=by.roles,
    )
    return Draft(late), [kept]


def too_late(expired: ReviewExpired) -> str:
    """Return why an answer counts no more."""
    return f"the answer came too late: {expired_in_words(expired.expired_at)}, and the request is closed as rejected"


def sentence_of(run: RunKey, data: EventData) -> str | None:
    """Return what a worker says of an event that `settle` wrote."""
    if isinstance(data, ReviewExpired):
        return f"{run.id}: {expired_in_words(data.expired_at)}; the request is closed as rejected"
    if isinstance(data, ReviewReminded | ReviewEscalated):
        escalated = "escalated, " if isinstance(data, ReviewEscalated) else ""
        return f"{run.id}: {escalated}to be decided until {moment_in_words(data.expires_at)}"
    return None


async def _due(ledger: Ledger, record: RunState, now: float) -> tuple[list[Draft], list[Kept]]:
    request = record.review_state.request
    if record.ended or request is None or request.shown.deadline is None or not record.review_state.waits:
        return [], []
    if now >= request.shown.deadline.until:
        return await _expired(ledger, record, request, request.shown.deadline)
    return [Draft(data) for data in _reminders(request, request.shown.deadline, now - request.shown.deadline.since)], []


def _reminders(request: RecordedRequest, deadline: Deadline, passed_s: float) -> list[EventData]:
    """Return the last escalation and the last reminder that are due, so many seconds after the request."""
    due = {
        kind: [moment for moment in moments if request.handled_s < moment <= passed_s]
        for kind, moments in ((ReviewEscalated, deadline.escalations_s), (ReviewReminded, deadline.reminders_s))
    }
    return [
        kind(request=request.shown.request, after_s=max(moments), expires_at=deadline.until)
        for kind, moments in due.items()
        if moments
    ]


async def _expired(
    ledger: Ledger, record: RunState, request: RecordedRequest, deadline: Deadline
) -> tuple[list[Draft], list[Kept]]:
    """Return the events that close a request as a rejection.

    The run continues without the held calls if nothing else was asked and `on_expire` allows it; else it ends.
    """
    calls, why = record.waiting_calls, expired_in_words(deadline.until)
    others = {name for name in request.shown.asked if name != CALL}
    # A gate is asked about as a call is, but holds none: without an answer the run cannot pass it.
    has_gate = request.shown.asked.count(CALL) > len(calls)
    ends = deadline.on_expire == "end" or bool(others) or has_gate
    rejected: Mapping[str, str] = {} if ends else {call.event.key: why for call in calls}
    expired = ReviewExpired(
        request=request.shown.request,
        subject=request.shown.subject,
        expired_at=deadline.until,
        on_expire=deadline.on_expire,
        rejected=rejected,
        ends=ends,
    )
    if not ends:
        return [Draft(expired)], []
    finishes = deadline.on_expire == "reject" and others == {BUDGET} and not has_gate
    end, artifacts = await ended(ledger, record, await _ending(ledger, record, why, finishes))
    return [Draft(expired), end], artifacts


async def _ending(ledger: Ledger, record: RunState, why: str, finishes: bool) -> Ending:
    """Return the end that a rejection would have led to: a budget that nobody raises is exhausted."""
    found = await outcome_so_far(ledger, record)
    answer = found.answer if found is not None and record.steps.succeeded else None
    if finishes:
        return Ending("budget_exhausted", f"{why}; {found.reason if found else 'there is no plan yet'}", answer)
    return Ending("rejected", f"rejected: {why}", answer)
