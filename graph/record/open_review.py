"""The open request of a run as lists of runs need it: who decides, who has voted, until when, and what it may cost."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planner_executor.graph.record.asked_effect import AskedEffect
from planner_executor.graph.record.codec import Coded
from planner_executor.graph.record.deadline import Deadline


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OpenReview(Coded):
    """An open request; `rules` are those of the policy on who decides, as the request recorded them.

    `effects` are the first of those that it asks for, and so many are `left_out`. `askers` and `voters` are the labels
    of those who asked for it and of those who have approved it. Of the deadline all up to `handled_s` was done;
    `reminded_at` and `escalated_at` are the times of such events, in Unix seconds.
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
    effects: tuple[AskedEffect, ...] = ()
    left_out: int = 0

    @property
    def due_at(self) -> float | None:
        """When something falls due next, in Unix seconds; None if there is no deadline."""
        return self.deadline.next_due(self.handled_s) if self.deadline is not None else None

    def to_text(self) -> str:
        """Return it as the index of runs keeps it."""
        return json.dumps(self.to_json(), ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> "OpenReview":
        """Parse the output of `to_text`."""
        return cls.from_json(json.loads(text))
