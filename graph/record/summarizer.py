"""A run's row for lists: a view of its state, which events change one by one."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from planner_executor.graph.errors import UnknownEventError
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.open_review import OpenReview
from planner_executor.graph.record.projection import apply_events, pass_over
from planner_executor.graph.record.review_state import RecordedRequest
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.summary import CHANGED, DAMAGED, PERSON, RunSummary

GOAL_CHARACTERS = 300
"""A longer goal is cut; the run's first event has the whole of it."""
PERSON_CHARACTERS = 200
"""A longer name of who started the run is cut."""
PEOPLE = 20
"""At most this many people are named."""


@dataclass
class Summarizer:
    """A run's state after the events so far, also of a run with events that cannot be read."""

    thread: str
    n: int
    record: RunState = field(default_factory=RunState)
    is_damaged: bool = False

    def apply(self, events: Iterable[Event]) -> "Summarizer":
        """Apply later events to the state, and return the summarizer."""
        for event in events:
            try:
                apply_events(self.record, (event,))
            except UnknownEventError:  # a newer release writes this row when it works on the run
                pass_over(self.record, event)
            except CHANGED:
                self.is_damaged = True
                pass_over(self.record, event)
        return self

    @property
    def summary(self) -> RunSummary:
        """The run after the events so far."""
        record = self.record
        # What is told besides is what could be read before the damage.
        status = DAMAGED if self.is_damaged else record.status
        request = record.review_state.request if status == "waiting" else None
        review = _open_review(record, request) if request is not None else None
        spending, ended = record.spending, record.ended
        return RunSummary(
            thread=self.thread,
            n=self.n,
            seq=record.seq,
            status=status,
            goal=str(record.assignment.started.goal)[:GOAL_CHARACTERS],
            reason=ended.reason if ended is not None else None,
            waits_for=PERSON if request is not None else None,
            asks=tuple(dict.fromkeys(request.shown.asked)) if request is not None else (),
            people=tuple(record.people.acted)[:PEOPLE],
            tags=record.assignment.started.tags,
            started_at=record.started_at,
            updated_at=record.updated_at,
            ended_at=record.updated_at if ended is not None else None,
            waiting_since=request.since if request is not None else None,
            revision=record.plan_state.revision,
            steps=len(record.steps.of_plan),
            succeeded=record.steps.succeeded_of_plan,
            tool_calls=spending.total.tool_calls,
            model_calls=spending.total.model_calls,
            tokens=spending.total.tokens,
            cost_usd=spending.total.known_usd,
            due_at=review.due_at if review is not None else None,
            review=review,
            started_by=record.people.askers[0][:PERSON_CHARACTERS] if record.people.askers else "",
        )


def _open_review(record: RunState, request: RecordedRequest) -> OpenReview:
    shown = request.shown
    return OpenReview(
        shown.request,
        shown.subject,
        shown.rules,
        shown.deadline,
        {**shown.estimate, **({"takes": dict(shown.takes)} if shown.takes else {})},
        request.askers,
        tuple(vote.approver for vote in record.people.votes.get(shown.subject, {}).values()),
        request.handled_s,
        request.escalated_s,
        request.reminded_at,
        request.escalated_at,
        shown.effects,
        shown.left_out,
    )
