"""The open request of a run as lists of runs need it: who decides, who has voted, until when, and what it may cost."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from planner_executor.graph.record.deadline import Deadline
from planner_executor.graph.record.events import (
    Decided,
    Event,
    PlanRevised,
    ResultSupplied,
    ReviewEscalated,
    ReviewExpired,
    ReviewReminded,
    ReviewRequested,
    RunEnded,
    RunReopened,
    RunStarted,
    Steered,
    StepSkipped,
    Voted,
)
from planner_executor.graph.record.people import People


@dataclass(frozen=True)
class OpenReview:
    """An open request; `rules` are those of the policy on who decides, as the request recorded them.

    `askers` and `voters` are the labels of those who asked for it and of those who have approved it. Of the deadline
    all up to `handled_s` was done; `reminded_at` and `escalated_at` are the times of such events, in Unix seconds.
    """

    request: int
    subject: str = ""
    rules: tuple[Mapping[str, Any], ...] = ()
    deadline: Deadline | None = None
    estimate: Mapping[str, Any] = field(default_factory=dict)
    askers: tuple[str, ...] = ()
    voters: tuple[str, ...] = ()
    handled_s: float = 0.0
    escalated_s: float = 0.0
    reminded_at: float | None = None
    escalated_at: float | None = None

    def __hash__(self) -> int:
        return hash((self.request, self.subject, self.voters, self.handled_s))

    @property
    def due_at(self) -> float | None:
        """When something falls due next, in Unix seconds; None if there is no deadline."""
        return self.deadline.next_due(self.handled_s) if self.deadline is not None else None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, unset fields left out."""
        deadline = self.deadline.to_json() if self.deadline is not None else None
        own = {**vars(self), "deadline": deadline, "rules": list(self.rules), "estimate": dict(self.estimate)}
        lists = {"askers": list(self.askers), "voters": list(self.voters)}
        return {name: value for name, value in {**own, **lists}.items() if value}

    def to_text(self) -> str:
        """Return it as the index of runs keeps it."""
        return json.dumps(self.to_json(), ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> "OpenReview":
        """Parse the output of `to_text`."""
        raw = json.loads(text)
        lists = {name: tuple(raw[name]) for name in ("rules", "askers", "voters") if name in raw}
        deadline = {"deadline": Deadline.from_json(raw["deadline"])} if "deadline" in raw else {}
        return cls(**{**raw, **lists, **deadline})


class ReviewFold:
    """Folds a run's events, in order, into its open request."""

    def __init__(self) -> None:
        self.open: OpenReview | None = None
        self._people = People()

    def apply(self, event: Event) -> None:
        """Fold one event; most events of a run are of a kind that says nothing here."""
        if (fold := FOLDS.get(event.kind)) is not None:
            fold(self, event, event.data)

    def voted(self, _event: Event, data: Voted) -> None:
        """Note the vote."""
        self._people.voted(data)
        self._with(voters=self._voters(data.subject))

    def decided(self, _event: Event, data: Decided) -> None:
        """Close the request."""
        self._people.decided(data)
        self.open = None

    def asked(self, _event: Event, data: Steered | RunReopened) -> None:
        """Note who asked for more, and close the request."""
        self._people.asked(data.approver)
        self._close()

    def started(self, _event: Event, data: RunStarted) -> None:
        """Note who asked for the run."""
        self._people.asked(data.started_by)

    def revised(self, _event: Event, data: PlanRevised) -> None:
        """Note who wrote the plan."""
        if data.written_by is not None:
            self._people.asked(data.written_by)

    def closed(self, _event: Event, _data: object) -> None:
        """Close the request."""
        self._close()

    def requested(self, _event: Event, data: ReviewRequested) -> None:
        """Open the request, or go on with it if it is asked again."""
        takes = {"takes": dict(data.takes)} if data.takes else {}
        asked = OpenReview(
            data.request,
            data.subject,
            data.rules,
            data.deadline,
            {**data.estimate, **takes},
            (*self._people.askers, *data.askers),
            self._voters(data.subject),
        )
        before = self.open
        if before is not None and before.request == asked.request:
            times = ("handled_s", "escalated_s", "reminded_at", "escalated_at")
            asked = replace(asked, **{name: getattr(before, name) for name in times})
        self.open = asked

    def _close(self) -> None:
        self._people.closed()
        self.open = None

    def fell_due(self, event: Event, data: ReviewReminded | ReviewEscalated) -> None:
        """Note a reminder or an escalation."""
        before = self.open
        if before is None or before.request != data.request:
            return
        self._with(handled_s=max(before.handled_s, data.after_s))
        if isinstance(data, ReviewEscalated):
            self._with(escalated_s=data.after_s, escalated_at=event.at)
        else:
            self._with(reminded_at=event.at)

    def _with(self, **changed: Any) -> None:
        self.open = replace(self.open, **changed) if self.open is not None else None

    def _voters(self, subject: str) -> tuple[str, ...]:
        return tuple(vote.approver for vote in self._people.votes.get(subject, {}).values())


FOLDS: Mapping[str, Callable[..., None]] = {
    ReviewRequested.kind: ReviewFold.requested,
    Voted.kind: ReviewFold.voted,
    ReviewReminded.kind: ReviewFold.fell_due,
    ReviewEscalated.kind: ReviewFold.fell_due,
    Decided.kind: ReviewFold.decided,
    Steered.kind: ReviewFold.asked,
    RunReopened.kind: ReviewFold.asked,
    RunStarted.kind: ReviewFold.started,
    PlanRevised.kind: ReviewFold.revised,
    RunEnded.kind: ReviewFold.closed,
    StepSkipped.kind: ReviewFold.closed,
    ResultSupplied.kind: ReviewFold.closed,
    ReviewExpired.kind: ReviewFold.closed,
}
"""Kind of event -> what it does to the request."""
