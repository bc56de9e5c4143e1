"""The open request of a run as lists of runs need it: who decides, who has voted, until when, and what it may cost."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planner_executor.graph.record.asked_effect import AskedEffect
from planner_executor.graph.record.deadline import Deadline


@dataclass(frozen=True)
class OpenReview:
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

    def __hash__(self) -> int:
        # Mappings have no hash; these tell one state of a request from the next.
        return hash((self.request, self.subject, self.voters, self.handled_s))

    @property
    def due_at(self) -> float | None:
        """When something falls due next, in Unix seconds; None if there is no deadline."""
        return self.deadline.next_due(self.handled_s) if self.deadline is not None else None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, unset fields left out."""
        deadline = self.deadline.to_json() if self.deadline is not None else None
        own = {**vars(self), "deadline": deadline, "rules": list(self.rules), "estimate": dict(self.estimate)}
        lists = {
            "askers": list(self.askers),
            "voters": list(self.voters),
            "effects": [one.to_json() for one in self.effects],
        }
        return {name: value for name, value in {**own, **lists}.items() if value}

    def to_text(self) -> str:
        """Return it as the index of runs keeps it."""
        return json.dumps(self.to_json(), ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> "OpenReview":
        """Parse the output of `to_text`."""
        raw = json.loads(text)
        lists = {name: tuple(raw[name]) for name in ("rules", "askers", "voters") if name in raw}
        if "effects" in raw:
            lists["effects"] = tuple(map(AskedEffect.from_json, raw["effects"]))
        deadline = {"deadline": Deadline.from_json(raw["deadline"])} if "deadline" in raw else {}
        return cls(**{**raw, **lists, **deadline})
